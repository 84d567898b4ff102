from __future__ import annotations

from pathlib import Path

import pytest

from docs.replay import Stage
from faces.command import CommandLine


@pytest.fixture(scope="session")
def stage(mongo_uri: str, is_real_server: bool, tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """The embedded server with the sample world that the pages speak of."""
    if is_real_server:
        pytest.skip("the pages' examples use databases by name, which a server of yours may hold")
    home: Path = tmp_path_factory.mktemp("docs")
    host = mongo_uri.removeprefix("mongodb://").rstrip("/")
    stage = Stage(host, CommandLine(home, {"GROUNDQL_CACHE_DIR": str(home / "cache")}))
    stage.with_sample("atlas")
    return stage
