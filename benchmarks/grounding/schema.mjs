// Infer the schema of a BSON file with npm mongodb-schema; print time, peak memory and the paths as JSON.
import { createRequire } from "node:module";
import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";

const require = createRequire(join(process.env.GROUNDQL_BENCH_MODULES, "index.js"));
const { parseSchema } = require("mongodb-schema");
const { deserialize } = require("bson");
const path = process.argv[2];

function* documents() {
  const file = openSync(path, "r");
  const size = fstatSync(file).size;
  const head = Buffer.alloc(4);
  for (let at = 0; at < size; ) {
    readSync(file, head, 0, 4, at);
    const length = head.readInt32LE(0);
    const data = Buffer.alloc(length);
    readSync(file, data, 0, length, at);
    at += length;
    yield deserialize(data);
  }
  closeSync(file);
}

function seconds(since) {
  return Number(process.hrtime.bigint() - since) / 1e9;
}

function collect(fields, into) {
  for (const field of fields) {
    into.push(field.path);
    for (const type of field.types) {
      const types = [type];
      while (types.length) {
        const one = types.pop();
        if (one.fields) collect(one.fields, into);
        if (one.types) types.push(...one.types);
      }
    }
  }
}

let started = process.hrtime.bigint();
for (const _ of documents());
const decode_s = seconds(started);

started = process.hrtime.bigint();
const cpu = process.cpuUsage();
const schema = await parseSchema(documents());
const total_s = seconds(started);
const used = process.cpuUsage(cpu);
const cpu_s = (used.user + used.system) / 1e6;

const paths = [];
collect(schema.fields, paths);
const status = "/proc/self/status"; // what resourceUsage says on Linux is inherited from the parent
const peak_mb = existsSync(status)
  ? Number(/VmHWM:\s+(\d+)/.exec(readFileSync(status, "utf8"))[1]) / 1e3
  : process.resourceUsage().maxRSS / 1e3;
console.log(JSON.stringify({ total_s, cpu_s, decode_s, peak_mb, paths }));
