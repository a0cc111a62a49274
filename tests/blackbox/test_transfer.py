"""An owner's memory out of one server and into another; TransferService is gRPC only."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from remanence.v2 import transfer_pb2 as pb
from remanence.v2 import transfer_pb2_grpc
from remanence_client import Client, InvalidInputError
from tests.blackbox.conftest import eventually, said, tell_story
from tests.blackbox.surfaces import Surface
from tests.support.server_process import ServerProcess, start_server


@pytest.fixture(scope="module")
def other_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    started = start_server(tmp_path_factory.mktemp("other") / "root")
    yield started
    assert started.stop() == 0


@pytest.fixture
def client(server: ServerProcess) -> Iterator[Client]:
    with Client(server.grpc) as opened:
        yield opened


def records(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "memories.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def manifest(folder: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return loaded


def is_idle(client: Client) -> bool:
    """Whether all that was told so far is Markdown."""
    jobs = client.health().jobs
    return not jobs.pending and not jobs.running


def with_profile(client: Client, user: str) -> None:
    """Tells a life that leaves an episode, facts and a profile, and waits until all are there."""
    client.add(
        f"life-{user}",
        [
            said("My name is Alice and I live in Porto. I love climbing.", user),
            said("I work as a nurse and I am allergic to peanuts.", user, 5_000),
        ],
        defer_extraction=True,
    )
    client.flush(f"life-{user}")
    eventually(lambda: client.get("profile", user_id=user).profiles)
    eventually(lambda: is_idle(client))


def gist(client: Client, user: str) -> list[Any]:
    """What get and search show of a user, the user's name aside."""
    shown: list[Any] = []
    for episode in client.get("episode", user_id=user).episodes:
        shown.append((episode.id.removeprefix(user), episode.subject, episode.summary))
        shown.append((episode.episode, episode.timestamp, episode.session_id, episode.sender_ids))
    for profile in client.get("profile", user_id=user).profiles:
        shown.append(profile.profile_data)
    for found in client.search(
        "Where does she live, and what may she not eat?", user_id=user
    ).episodes:
        shown.append(found.id.removeprefix(user))
        shown.append([(fact.id.removeprefix(user), fact.content) for fact in found.atomic_facts])
    return shown


def test_an_export_goes_into_another_owner_of_another_server_unchanged(
    client: Client, other_server: ServerProcess, tag: str, tmp_path: Path
) -> None:
    user, heir = f"alice{tag}", f"bob{tag}"
    with_profile(client, user)
    client.add(
        f"open-{tag}", [said("Not extracted yet.", user, message_id="m1")], defer_extraction=True
    )
    received = client.export_owner(tmp_path / "export", user_id=user)
    told = manifest(tmp_path / "export")
    assert (told["user_id"], told["agent_id"], told["problems"]) == (user, None, [])
    assert (
        told["counts"]["episode"] == told["counts"]["transcript"] == told["counts"]["profile"] == 1
    )
    assert told["counts"]["messages"] == 1
    assert len(records(tmp_path / "export")) == sum(
        told["counts"][kind] for kind in ("episode", "transcript", "atomic_fact", "profile")
    )
    markdown = list((tmp_path / "export" / "markdown").rglob("*.md"))
    assert len(markdown) == told["counts"]["files"] == received.files - 3

    with Client(other_server.grpc) as there:
        first = there.import_owner(tmp_path / "export", user_id=heir)
        assert (first.imported, first.present) == (len(records(tmp_path / "export")), 0)
        assert gist(there, heir) == gist(client, user)
        before = {p: p.read_bytes() for p in other_server.root.rglob(f"*{heir}/**/*.md")}
        again = there.import_owner(tmp_path / "export" / "memories.jsonl", user_id=heir)
        assert (again.imported, again.present) == (0, first.imported)
        assert {p: p.read_bytes() for p in other_server.root.rglob(f"*{heir}/**/*.md")} == before
        assert before
        # What comes later gets numbers of its own.
        tell = [said("I moved to Lisbon.", heir, 60_000)]
        there.add(f"later-{tag}", tell, defer_extraction=True)
        there.flush(f"later-{tag}")
        ids = [episode.id for episode in there.get("episode", user_id=heir).episodes]
        assert len(ids) == len(set(ids)) == 2
        there.export_owner(tmp_path / "second", user_id=heir)
    carried = {
        line["id"]: line for line in records(tmp_path / "export") if line["kind"] != "profile"
    }
    arrived = {line["id"]: line for line in records(tmp_path / "second")}
    assert {name: arrived[name] for name in carried} == carried


def test_an_owner_without_anything_is_an_empty_export(
    client: Client, tag: str, tmp_path: Path
) -> None:
    client.export_owner(tmp_path / "e", user_id=f"nobody{tag}")
    assert records(tmp_path / "e") == []
    assert (tmp_path / "e" / "messages.jsonl").read_bytes() == b""
    assert set(manifest(tmp_path / "e")["counts"].values()) == {0}
    assert client.import_owner(tmp_path / "e", user_id=f"nobody{tag}").imported == 0


def test_an_export_holds_nothing_of_anybody_else(
    client: Client, http: Surface, tag: str, tmp_path: Path
) -> None:
    name = f"sam{tag}"
    others = [f"{name}2", f"{name}.", f"x{name}", name.upper(), f"{name}_ep_20260528_00000001"]
    for number, other in enumerate(others):
        text = f"I keep the foreign-marker-{tag} in box {number}."
        client.add(f"s{number}-{tag}", [said(text, other)], defer_extraction=True)
        if number % 2:
            client.flush(f"s{number}-{tag}")
    # The same name in another scope, and as an agent.
    client.add(f"o-{tag}", [said(f"foreign-marker-{tag}", name)], app_id=f"app{tag}")
    client.flush(f"o-{tag}", app_id=f"app{tag}")
    call = {"function": {"name": "shell", "arguments": "{}"}}
    run = [said("The nightly backup fails. Please find out why and fix it.", f"boss{tag}")]
    for number, outcome in enumerate(("error: disk full", "removed 41 files", "ok: 48 s")):
        calls = [{"id": f"c{number}", **call}]
        run += [
            said("Trying.", name, 2_000 * number, "assistant", tool_calls=calls),
            said(outcome, "shell", 2_000 * number + 1_000, "tool", tool_call_id=f"c{number}"),
        ]
    run.append(said(f"Fixed. It was the foreign-marker-{tag}.", name, 9_000, "assistant"))
    client.add(f"r-{tag}", run, defer_extraction=True)
    client.flush(f"r-{tag}")
    eventually(lambda: client.get("agent_case", agent_id=name).agent_cases)
    # A session of several: what the other says there is not sent by the owner.
    both = [said("I own a red kite.", name), said(f"foreign-marker-{tag}", f"pal{tag}", 1_000)]
    client.add(f"g-{tag}", both, defer_extraction=True)
    eventually(lambda: is_idle(client))
    client.export_owner(tmp_path / "open", user_id=name)
    texts = {path: path.read_text() for path in (tmp_path / "open").rglob("*") if path.is_file()}
    assert not [path for path, text in texts.items() if "foreign-marker" in text]
    assert "I own a red kite." in texts[tmp_path / "open" / "messages.jsonl"]

    client.export_owner(tmp_path / "agent", agent_id=name)
    case = records(tmp_path / "agent")
    assert [line["kind"] for line in case] == ["agent_case"]
    assert manifest(tmp_path / "agent")["agent_id"] == name
    assert "red kite" not in (tmp_path / "agent" / "messages.jsonl").read_text()


def test_a_broken_entry_is_in_the_copy_and_told_of_in_the_manifest(
    client: Client, http: Surface, root: Path, tag: str, tmp_path: Path
) -> None:
    user = f"broken{tag}"
    tell_story(http, user, f"b-{tag}")
    (page,) = root.rglob(f"{user}/episodes/*.md")
    text = page.read_text()
    page.write_text(text + "\n<!-- entry:mine -->\nno keys here\n<!-- /entry:mine -->\n")
    line = text.count("\n") + 2
    client.export_owner(tmp_path / "e", user_id=user)
    (problem,) = manifest(tmp_path / "e")["problems"]
    assert (problem["file"], problem["line"]) == (f"markdown/episodes/{page.name}", line)
    assert "no keys here" in (tmp_path / "e" / "markdown" / "episodes" / page.name).read_text()
    assert [each["kind"] for each in records(tmp_path / "e")].count("episode") == 1


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "is not JSON"),
        ("[]", "should be an object"),
        ('{"kind": "diary"}', "kind is not a kind of record"),
        ('{"kind": "agent_case"}', "agent_case is not what the user track holds"),
        ('{"kind": "episode", "id": "ep_20260528_00000009"}', "Field required: session_id"),
        ({"id": "af_20260528_00000001"}, "Input should be an id of episode: id"),
        ({"id": "ep_20261328_00000001"}, "Input should be an id of episode: id"),
        ({"id": "ep_20260528_999999999999999"}, "Input should be an id of episode: id"),
        ({"id": "a --> b"}, "Input should be an id of episode: id"),
        ({"timestamp_ms": 10**17}, "Input should be an instant of the calendar: timestamp_ms"),
        ({"timestamp_ms": "1"}, "Input should be a valid integer: timestamp_ms"),
    ],
)
def test_a_line_that_is_no_record_is_refused_by_its_number_and_the_earlier_ones_stay(
    client: Client, tag: str, tmp_path: Path, line: str | dict[str, Any], reason: str
) -> None:
    def episode(number: int, **changed: Any) -> str:
        return json.dumps(
            {
                "kind": "episode",
                "id": f"ep_20260528_{number:08d}",
                "session_id": "s",
                "timestamp_ms": 1_779_967_836_000,
                "sender_ids": ["x"],
                "subject": "kept",
                "summary": "kept",
                "content": "kept",
                "of_a_later_version": True,
                **changed,
            }
        )

    bad = line if isinstance(line, str) else episode(8, **line)
    file = tmp_path / "memories.jsonl"
    file.write_text("\n".join(["\ufeff" + episode(1), "", bad, episode(2)]), encoding="utf-8")
    with pytest.raises(InvalidInputError) as refused:
        client.import_owner(file, user_id=f"u{tag}")
    assert refused.value.message == f"memories.jsonl line 3: {reason}"
    episodes = eventually(lambda: client.get("episode", user_id=f"u{tag}").episodes)
    assert [each.id for each in episodes] == [f"u{tag}_ep_20260528_00000001"]


@pytest.mark.parametrize(
    ("messages", "field"),
    [
        ([], "target"),
        ([pb.ImportOwnerRequest(chunk=b"{}")], "target"),
        ([pb.ImportOwnerRequest(target=pb.ImportTarget(user_id="a/b"))], "user_id"),
        ([pb.ImportOwnerRequest(target=pb.ImportTarget(user_id="a"))] * 2, "target"),
        (
            [pb.ImportOwnerRequest(target=pb.ImportTarget(user_id="a", agent_id="b"))],
            "exactly one of user_id / agent_id must be provided",
        ),
    ],
)
def test_an_import_needs_one_good_target_and_first(
    server: ServerProcess, messages: list[pb.ImportOwnerRequest], field: str
) -> None:
    with grpc.insecure_channel(server.grpc) as channel:
        stub = transfer_pb2_grpc.TransferServiceStub(channel)
        with pytest.raises(grpc.RpcError) as refused:
            stub.ImportOwner(iter(messages), timeout=10)
    assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert field in str(refused.value.details())


def test_a_profile_is_merged_into_the_one_that_is_there(
    client: Client, other_server: ServerProcess, tag: str, tmp_path: Path
) -> None:
    user = f"merge{tag}"
    with_profile(client, user)
    client.export_owner(tmp_path / "e", user_id=user)
    with Client(other_server.grpc) as there:
        later = [said("I live in Berlin. I love chess.", user, 3_600_000)]
        there.add(f"m-{tag}", later, defer_extraction=True)
        there.flush(f"m-{tag}")
        eventually(lambda: there.get("profile", user_id=user).profiles)
        there.import_owner(tmp_path / "e", user_id=user)

        def settled() -> list[dict[str, Any]]:
            (profile,) = there.get("profile", user_id=user).profiles
            items: list[dict[str, Any]] = profile.profile_data["explicit_info"]
            return items if any("peanuts" in item["description"] for item in items) else []

        items = eventually(settled)
    (home,) = [item for item in items if item["category"] == "home"]
    assert "Berlin" in home["description"]
    assert ["Porto" in past["description"] for past in home["superseded"]] == [True]
    assert any("chess" in item["description"] for item in items)
