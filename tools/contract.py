"""Work on the contract: `python tools/contract.py generate | check | lint | format | breaking`.

generate  write gen/ from proto/
check     fail unless gen/ is exactly what proto/ generates
lint      buf's STANDARD rules and layout over proto/
format    lay proto/ out
breaking  buf's WIRE_JSON rules, against the main branch and the latest release

Everything needed comes from the locked packages; buf never asks the network. The google/api protos
are copied out of googleapis-common-protos into .build/googleapis, a module in buf.yaml.
"""

import argparse
import filecmp
import importlib.metadata
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / ".build"
GOOGLEAPIS = ("google/api/", "google/rpc/", "google/type/")
# What `generate` owns under gen/: a file there that nothing generates is removed.
OUTPUTS = ("python", "http", "openapi")


def run(*command: str | Path, cwd: Path = ROOT) -> None:
    """Run a command; on failure end with its exit code, for it has said why itself."""
    env = dict(os.environ, BUF_CACHE_DIR=str(BUILD / "buf"))
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env.get('PATH', os.defpath)}"
    code = subprocess.run([str(part) for part in command], cwd=cwd, env=env, check=False).returncode
    if code != 0:
        sys.exit(code)


def copy_googleapis(folder: Path) -> None:
    """Copy the google/api protos from the installed package into an ignored folder."""
    shutil.rmtree(folder, ignore_errors=True)
    for file in importlib.metadata.files("googleapis-common-protos") or []:
        if file.suffix == ".proto" and str(file).startswith(GOOGLEAPIS):
            target = folder / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file.locate(), target)


def generate_fresh() -> Path:
    """Generate everything into an ignored folder and return it."""
    base = BUILD / "generated"
    shutil.rmtree(base, ignore_errors=True)
    for output in OUTPUTS:
        (base / "gen" / output).mkdir(parents=True)
    run("buf", "generate", "--output", base)
    stubs = base / "gen/python"
    for types in stubs.rglob("*_pb2_grpc.pyi"):
        if not types.with_suffix(".py").exists():
            types.unlink()  # a file without services
    # The stubs are typed: type checkers of whoever installs the client look for this file.
    (stubs / "remanence/py.typed").touch()
    return base


def list_files(folder: Path) -> set[Path]:
    """Return the files that OUTPUTS hold under a folder, relative to it."""
    return {
        path.relative_to(folder)
        for output in OUTPUTS
        for path in (folder / "gen" / output).rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }


def compare(fresh: Path) -> dict[Path, str]:
    """Return the files of gen/ that are not as generated, and what is wrong with each."""
    wrong = {}
    expected, actual = list_files(fresh), list_files(ROOT)
    for path in sorted(expected | actual):
        if path not in expected:
            wrong[path] = "nothing in proto/ generates it"
        elif path not in actual:
            wrong[path] = "missing"
        elif not filecmp.cmp(fresh / path, ROOT / path, shallow=False):
            wrong[path] = "differs"
    return wrong


def generate() -> None:
    """Write gen/ from proto/; files that stay the same are not touched."""
    fresh = generate_fresh()
    wrong = compare(fresh)
    for path in wrong:
        source, target = fresh / path, ROOT / path
        if source.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        else:
            target.unlink()
    print(f"gen/: {len(list_files(ROOT))} files, {len(wrong)} changed")


def check() -> None:
    """Fail, naming the files, unless gen/ is exactly what proto/ generates."""
    wrong = compare(generate_fresh())
    for path, reason in wrong.items():
        print(f"{path}: {reason}")
    if wrong:
        sys.exit("gen/ is not what proto/ generates: run `make generate` and commit the result")
    print("gen/ is what proto/ generates")


def lint() -> None:
    """Hold proto/ to buf's STANDARD rules and its layout."""
    run("buf", "lint")
    run("buf", "format", "--diff", "--exit-code", "proto")


def lay_out() -> None:
    """Rewrite proto/ in buf's layout."""
    run("buf", "format", "--write", "proto")


def git(*arguments: str) -> str | None:
    """Return what git prints, or None if it fails."""
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() if done.returncode == 0 else None


def breaking() -> None:
    """Refuse changes that break JSON or wire compatibility with main or the latest release."""
    branches = ("origin/main", "main")
    main = next((b for b in branches if git("rev-parse", "--verify", "--quiet", b)), None)
    release = git("describe", "--tags", "--abbrev=0", "--match", "v[0-9]*")
    against = BUILD / "against"
    for revision in (main, release):
        if revision is None:
            continue
        if not git("ls-tree", revision, "proto/"):
            print(f"buf breaking: {revision} has no proto/ yet, nothing to compare with")
            continue
        shutil.rmtree(against, ignore_errors=True)
        against.mkdir(parents=True)
        run("git", "archive", "--output", against / "proto.tar", revision, "proto")
        shutil.unpack_archive(against / "proto.tar", against, filter="data")
        # Today's buf.yaml and google protos on both sides: only our own protos are compared.
        shutil.copyfile(ROOT / "buf.yaml", against / "buf.yaml")
        copy_googleapis(against / ".build/googleapis")
        run("buf", "breaking", "--against", against)
        print(f"buf breaking: compatible with {revision}")
    if main is None and release is None:
        print("buf breaking: neither a main branch nor a release here, nothing to compare with")


def main() -> None:
    """Run the commands named on the command line, in order."""
    commands = {
        "generate": generate,
        "check": check,
        "lint": lint,
        "format": lay_out,
        "breaking": breaking,
    }
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", nargs="+", choices=commands)
    arguments = parser.parse_args()
    copy_googleapis(BUILD / "googleapis")
    for command in arguments.command:
        commands[command]()


if __name__ == "__main__":
    main()
