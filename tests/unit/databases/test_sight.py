from __future__ import annotations

import asyncio

import pytest

from groundql.databases.sight import Sight

pytestmark = pytest.mark.anyio
LONG_S = 600.0


class Server:
    def __init__(self, *, seen: bool) -> None:
        self.seen = seen

    def __call__(self) -> bool:
        return self.seen


async def wait_with(sight: Sight, seconds: float = LONG_S) -> None:
    async with asyncio.timeout(LONG_S) as bound:
        with sight.kept(bound):
            await asyncio.sleep(seconds)


async def test_a_call_on_a_lost_server_ends_long_before_its_own_time_limit() -> None:
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(wait_with(Sight(Server(seen=False), lost_s=0.2, again_s=0.0)), 60)


async def test_a_server_in_sight_is_waited_for() -> None:
    await wait_with(Sight(Server(seen=True), lost_s=0.0, again_s=0.0), 0.4)


async def test_a_server_that_comes_back_in_time_was_not_lost() -> None:
    server = Server(seen=False)
    asyncio.get_running_loop().call_later(0.2, setattr, server, "seen", True)
    await wait_with(Sight(server, lost_s=0.6, again_s=0.0), 1.0)


def test_once_lost_the_next_call_waits_only_for_a_new_look() -> None:
    server = Server(seen=False)
    sight = Sight(server, lost_s=3.0, again_s=0.5)
    assert [sight._is_lost(10.0, now) for now in (10.1, 13.0, 13.1)] == [False, False, True]
    assert [sight._is_lost(20.0, now) for now in (20.4, 20.5)] == [False, True]
    server.seen = True
    assert not sight._is_lost(30.0, 40.0)
    server.seen = False
    assert [sight._is_lost(50.0, now) for now in (50.1, 52.0)] == [False, False]


async def test_no_timer_is_left_when_the_call_ends_by_itself() -> None:
    looks: list[int] = []

    def seen() -> bool:
        looks.append(1)
        return False

    sight = Sight(seen, lost_s=LONG_S)
    await wait_with(sight, 0.3)
    so_far = len(looks)
    await asyncio.sleep(0.4)
    assert (so_far > 0, len(looks)) == (True, so_far)
