"""Notices for the tests of cards: some by name, and any that hypothesis can think of."""

from hypothesis import strategies as st

from core.ids import NoticeId, PersonId, Thread
from core.notices import Answer, Content, Notice, Remark, Step, TurnCard

THREAD = Thread(team="T0WATCH", channel="C0OPS", root="1700000000.000100")

NASTY = (
    "<!channel>", "<!here|here>", "<!everyone>", "<!subteam^S012|@ops>", "<@U0ADA>", "@here",
    "@channel", "@everyone", "<\x00!channel>", "@\u202ehere", "&lt;!channel&gt;", "&amp;",
    "a&b<c>d", "```\n<@U0ADA>\n```", "[x](http://e.com)", "\ud800", "\r\n",
    "*b* _i_ ~s~ `c`", " ", "\n", "",
)  # fmt: skip


def notice(content: Content) -> Notice:
    """A notice in the tests' thread."""
    return Notice(id=NoticeId("notice-1"), session=THREAD.session, thread=THREAD, content=content)


EXAMPLES: dict[str, Content] = {
    "turn_begins": TurnCard(turn=1, state="running", title="Looking into it"),
    "turn_runs": TurnCard(
        turn=1,
        state="running",
        title="Why is the disk filling up?",
        words="The root file system is at 91 %. Looking for *what* grew & when.",
        steps=(
            Step(
                id="c1",
                title="df -h /",
                machine="host:demo",
                state="ok",
                detail="/dev/vda1  40G  36G  4G  91% /",
            ),
            Step(
                id="c2",
                title="cat /etc/shadow",
                machine="host:demo",
                state="refused",
                detail="not on the list of read-only commands",
            ),
            Step(
                id="c3",
                title="grep -c '<!channel>' /x",
                machine="host:demo",
                state="failed",
                detail="exit 2",
            ),
            Step(id="c4", title="du -xh / | sort -h", machine="host:demo", state="running"),
            Step(id="c5", title="uptime", machine="host:demo", state="not_run"),
        ),
    ),
    "turn_by_itself": TurnCard(
        turn=2,
        state="done",
        title="Done after 1 step",
        cause="the model could be reached again",
        steps=(Step(id="c1", title="List the machines", state="ok"),),
    ),
    "turn_without_steps": TurnCard(turn=1, state="done", title="Answered"),
    "turn_of_many_steps": TurnCard(
        turn=1,
        state="running",
        title="A long one",
        steps=tuple(
            Step(id=f"c{n}", title=f"uptime {n}", machine="host:demo", state="ok", detail="up")
            for n in range(1, 61)
        ),
    ),
    "answer": Answer(
        text="## The disk\n`/var/log/app.log` is **31 GB**.\n\n"
        "| a | b |\n|---|---|\n| 1 | <2 & 3> |\n"
        "Ask <@U0ADA> or @here, <!channel>."
    ),
    "remark": Remark(text="I do not act for <@U0BOB>: not named in the settings."),
    "remark_with_button": Remark(level="warning", text="Rested after 30 model calls.", go_on=True),
    "remark_with_a_button_that_was_pressed": Remark(
        level="warning", text="Rested after 30 model calls.", pressed_by=PersonId("U0ADA")
    ),
    "remark_of_an_error": Remark(level="error", text="The model could not be reached."),
}

texts = st.lists(st.one_of(st.text(max_size=40), st.sampled_from(NASTY)), max_size=8).map("".join)
long_texts = st.builds(lambda text, times: text * times, texts, st.integers(1, 100))
any_text = st.one_of(texts, long_texts)
steps = st.builds(
    Step,
    id=st.text(max_size=5),
    title=any_text,
    machine=texts,
    state=st.sampled_from(["running", "ok", "failed", "refused", "not_run"]),
    detail=any_text,
)
contents: st.SearchStrategy[Content] = st.one_of(
    st.builds(
        TurnCard,
        turn=st.integers(1, 9),
        state=st.sampled_from(["running", "done", "failed"]),
        title=any_text,
        words=any_text,
        cause=any_text,
        steps=st.one_of(
            st.lists(steps, max_size=6).map(tuple),
            st.builds(lambda step, times: (step,) * times, steps, st.integers(1, 90)),
        ),
    ),
    st.builds(Answer, text=any_text),
    st.builds(
        Remark,
        level=st.sampled_from(["info", "warning", "error"]),
        text=any_text,
        go_on=st.booleans(),
        pressed_by=st.sampled_from([None, PersonId("U0ADA")]),
    ),
)
