"""The first form of screening: a short list runs, all else is refused with a reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.screening import screen
from core.screening.rules import PROGRAMS


@pytest.mark.parametrize(
    "command",
    [
        "df -h .", "du -h --max-depth=2 srv", "ls -la /var/log", "tail -n 5 /var/log/syslog",
        "tail -n5 x", "head -20 x", "cat srv/app/config.ini", "ps -eo pid,etime,args", "ps aux",
        "systemctl status nginx --no-pager", "systemctl is-active nginx", "uptime", "free -m",
        "journalctl -u nginx -n 50 --no-pager", "ip addr show", "ss -tlnp",
        "find /var -xdev -size +100M",
        "/usr/bin/df -h", "grep -n error /var/log/app.log", "docker ps -a", "stat -c %s file",
    ],
)  # fmt: skip
def test_commands_that_only_look_run(command: str) -> None:
    verdict = screen(command)
    assert (verdict.decision, verdict.risk) == ("run", "read_only"), verdict.reason


@pytest.mark.parametrize(
    "command",
    [
        "", "   ", "rm -rf /", "reboot", "systemctl restart nginx", "systemctl show nginx",
        "cat /etc/shadow", "cat /etc//shadow", "cat ../../etc/shadow", "cat ~/.ssh/id_rsa",
        "cat .env", "head /proc/self/environ", "cat /proc/1/environ",
        "grep x /root/.aws/credentials",
        "cat a; rm b", "cat a && rm b", "cat a | sh", "cat $(id)", "cat `id`", "cat a > b",
        "cat < a",
        "ls\nrm b", "ls\trm", "ls 'a b'", 'ls "a"', "ls *", "ls ?", "ls {a,b}", "ls ~", "A=1 ls",
        "df\u00a0-h", "df \u202e-h", "df -h\x00", "find . -delete", "find . -exec rm x",
        "find . -fprint x", "tail -f x", "tail -F x", "tail --follow x", "date -s 12:00",
        "hostname x",
        "ip link delete eth0", "ip route flush", "ip netns exec x ls", "dmesg -C", "dmesg --clear",
        "journalctl --vacuum-size=1M", "journalctl --rotate", "journalctl -f", "ss -K",
        "sort -o a b",
        "ps auxe", "grep -f a b", "grep -r x /", "wc --files0-from=a", "du --files0-from=a",
        "./df", "/tmp/df", "sudo df", "env df", "bash -c ls", "python3 -c x", "docker exec a ls",
        "docker run a", "nc -l 1", "curl http://x", "cat /dev/sda", "cat -- /etc/shadow",
        "systemctl --type status stop nginx", "systemctl --state is-active stop nginx",
        "systemctl -t status stop nginx", "journalctl -b --vacuum-time=1s",
        "journalctl -u --rotate", "journalctl -o json", "getent hosts x.example.invalid",
        "ps -eo pid,environ", "ps --format=environ", "docker --format ps rm x", "tail -n -f x",
        "du --max-depth 1 x --files0-from", "date --set=12:00", "find . -name -delete",
        "x" * 5000, "cat " + "a " * 20,
    ],
)  # fmt: skip
def test_everything_else_is_refused_with_a_reason(command: str) -> None:
    verdict = screen(command)
    assert (verdict.decision, verdict.risk) == ("refuse", "refused")
    assert verdict.rule
    assert verdict.reason


@given(st.sampled_from(sorted(PROGRAMS)), st.text(min_size=1, max_size=40))
def test_no_shell_character_ever_runs(program: str, tail: str) -> None:
    verdict = screen(f"{program} {tail}")
    if set(tail) & set(";&|<>()$`\\\"'*?[]{}~#!\n\r\t\0"):
        assert verdict.decision == "refuse"


@given(st.text(max_size=60))
def test_any_text_gets_a_verdict(command: str) -> None:
    assert screen(command).decision in ("run", "refuse")


def test_no_program_on_the_list_may_have_a_flag_that_writes_or_runs() -> None:
    """A list of known dangers, held against the list of what is allowed."""
    dangers = {
        "find": ["-exec", "-execdir", "-ok", "-delete", "-fprint", "-fls", "-files0-from"],
        "tail": ["-f", "-F", "--follow", "--retry"],
        "date": ["-s", "--set"],
        "dmesg": ["-C", "-c", "-n", "-w", "--clear"],
        "ss": ["-K", "-D", "--kill"],
        "journalctl": ["-f", "--rotate", "--vacuum-time", "--flush", "--sync", "-D", "--file"],
        "hostname": ["-F", "-b"],
        "ip": ["-b", "-batch", "-n", "-netns", "-force"],
        "docker": ["-H", "--host", "--config"],
    }
    for program, flags in dangers.items():
        rule = PROGRAMS[program]
        assert [f for f in flags if f in rule.valued or rule.allows(f)] == [], program
