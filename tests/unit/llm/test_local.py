from __future__ import annotations

from pathlib import Path

import pytest

from groundql.core.chat import Message, ModelRequest
from groundql.errors import ModelUnavailable, ModelUnset
from groundql.llm.local import LocalServer, LocalServers, model_status
from groundql.llm.models import LocalModel, open_model
from groundql.llm.pull import MODEL_FILES, model_path

pytestmark = pytest.mark.anyio


def test_the_status_names_each_model_and_the_next_step(tmp_path: Path) -> None:
    status = model_status(tmp_path)
    assert [entry.name for entry in status] == ["1.5b", "0.5b"]
    for entry in status:
        assert not entry.present
        assert entry.advice in (f"groundql model pull {entry.name}", "pip install 'groundql[local]'")


def test_a_half_downloaded_model_counts_as_missing(tmp_path: Path) -> None:
    path = model_path(MODEL_FILES["0.5b"], tmp_path)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"GGUF")
    path.with_name(path.name + ".part").write_bytes(b"GGUF" * 100)
    assert not any(entry.present for entry in model_status(tmp_path))


def test_a_server_without_its_file_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable) as raised:
        LocalServer.start(MODEL_FILES["1.5b"], folder=tmp_path)
    assert raised.value.hint in ("groundql model pull 1.5b", "pip install 'groundql[local]'")


async def test_asking_a_local_model_without_its_file_is_one_clear_error(tmp_path: Path) -> None:
    model = open_model("local", folder=tmp_path, servers=LocalServers())
    with pytest.raises(ModelUnavailable):
        await model.complete(ModelRequest((Message("user", "hello"),)))
    await model.close()


@pytest.mark.parametrize(("spec", "name"), [("local", "local"), ("local:1.5b", "local"), ("local:0.5b", "local:0.5b")])
def test_a_local_model_goes_by_the_name_it_is_asked_for(spec: str, name: str) -> None:
    model = open_model(spec)
    assert isinstance(model, LocalModel)
    assert model.name == name


def test_an_unknown_local_model_is_refused_at_once() -> None:
    with pytest.raises(ModelUnset, match="'9b'"):
        open_model("local:9b")
