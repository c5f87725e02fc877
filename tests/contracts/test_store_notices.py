"""What every record promises of notices."""

import pytest

from core.ids import NoticeId
from core.notices import Notice, Step, TurnCard
from core.ports import (
    Change,
)
from tests.contracts.records import (
    KINDS,
    REF,
    ROOM,
    Rig,
    delivering,
    opened,
    opening,
    remark,
    telling,
)

rig = pytest.fixture(params=KINDS)(opened)


async def test_a_notice_is_pending_until_its_version_is_shown(rig: Rig) -> None:
    card = TurnCard(
        turn=1, state="running", title="t", steps=(Step(id="c1", title="x", state="ok"),)
    )
    notice = Notice(id=NoticeId("n1"), session=ROOM.session, thread=ROOM, content=card)
    await rig.commit(opening())
    await rig.commit(telling(notice, remark("for you", "n2", only_for="U1")))
    first, second = await rig.store.pending_notices(ROOM.session)
    assert (first.notice, first.version, first.ref, first.is_stamped) == (notice, 1, None, False)
    assert second.notice == remark("for you", "n2", only_for="U1")
    assert first.seq < second.seq
    await rig.commit(delivering(1))
    assert await rig.store.pending_notices(ROOM.session) == [second]
    assert await rig.store.notice(NoticeId("n1")) == notice


async def test_storing_a_notice_again_is_an_edit_only_if_its_content_differs(rig: Rig) -> None:
    await rig.commit(telling(remark("one")))
    await rig.commit(delivering(1))
    await rig.commit(telling(remark("one")))
    assert await rig.store.pending_notices(ROOM.session) == []
    await rig.commit(telling(remark("two")))
    (pending,) = await rig.store.pending_notices(ROOM.session)
    assert (pending.notice, pending.version, pending.ref) == (remark("two"), 2, REF)
    assert await rig.store.notice(NoticeId("n1")) == remark("two")


async def test_an_edited_notice_keeps_its_place(rig: Rig) -> None:
    await rig.commit(telling(remark("a", "n1"), remark("b", "n2")))
    await rig.commit(telling(remark("A", "n1")))
    pending = await rig.store.pending_notices(ROOM.session)
    assert [each.notice for each in pending] == [remark("A", "n1"), remark("b", "n2")]


async def test_showing_an_older_version_leaves_the_newest_pending(rig: Rig) -> None:
    await rig.commit(telling(remark("one")))
    await rig.commit(telling(remark("two")))
    await rig.commit(delivering(1))
    (pending,) = await rig.store.pending_notices(ROOM.session)
    assert (pending.version, pending.ref) == (2, REF)
    await rig.commit(delivering(2))
    await rig.commit(delivering(1))
    assert await rig.store.pending_notices(ROOM.session) == []


async def test_a_stamp_stays_until_the_delivery_is_recorded(rig: Rig) -> None:
    await rig.commit(telling(remark("one")))
    await rig.commit(Change(ROOM.session, 1.0, stamped=(NoticeId("n1"),)))
    await rig.commit(telling(remark("two")))
    (pending,) = await rig.store.pending_notices(ROOM.session)
    assert pending.is_stamped
    await rig.commit(delivering(1))
    (pending,) = await rig.store.pending_notices(ROOM.session)
    assert not pending.is_stamped


async def test_a_version_that_was_given_up_is_not_pending_but_the_next_is(rig: Rig) -> None:
    await rig.commit(telling(remark("one")))
    await rig.commit(Change(ROOM.session, 1.0, stamped=(NoticeId("n1"),)))
    await rig.commit(delivering(1, ref=None, failure="channel_archived"))
    assert await rig.store.pending_notices(ROOM.session) == []
    await rig.commit(telling(remark("two")))
    (pending,) = await rig.store.pending_notices(ROOM.session)
    assert (pending.version, pending.ref, pending.is_stamped) == (2, None, False)


async def test_giving_up_an_edit_does_not_forget_the_message(rig: Rig) -> None:
    await rig.commit(telling(remark("one")))
    await rig.commit(delivering(1))
    await rig.commit(telling(remark("two")))
    await rig.commit(delivering(2, ref=None, failure="cant_update_message"))
    await rig.commit(telling(remark("three")))
    (pending,) = await rig.store.pending_notices(ROOM.session)
    assert pending.ref == REF


async def test_a_thread_may_be_told_something_without_being_a_session(rig: Rig) -> None:
    await rig.commit(telling(remark("not for you", only_for="U2")))
    (pending,) = await rig.store.pending_notices(ROOM.session)
    assert pending.notice.thread == ROOM
    assert await rig.store.session(ROOM.session) is None
