# SPDX-License-Identifier: Apache-2.0
"""What the virtual machine boots from: a kernel and a root file system out of Debian's packages, made once per user,
and a second disk with Ebb and its tests, made for every run."""
import hashlib
import json
import os
import platform
import shutil
import subprocess
from pathlib import Path

# What is in the root file system; init and the daemon that kills groups are systemd's.
PACKAGES = ("systemd-sysv", "systemd-oomd", "dbus", "udev", "kmod", "python3", "libsqlite3-0", "libstdc++6",
            "linux-image-cloud-amd64", "initramfs-tools")
LEFT_OUT = ("/usr/share/doc/*", "/usr/share/locale/*", "/usr/share/man/*")
# The tests run as the only service of the machine, from the second disk.
UNIT = """[Unit]
After=multi-user.target systemd-udev-settle.service
Wants=systemd-udev-settle.service
[Service]
ExecStart=/usr/bin/python3 -B /ebb/machine/guest.py
StandardOutput=journal+console
StandardError=journal+console
OOMPolicy=continue
[Install]
WantedBy=multi-user.target
"""
DISKS = "/dev/vda / ext4 rw 0 0\nLABEL=ebb /ebb ext4 ro 0 0\n"
# A second is enough for the daemon to see that tasks stand still; it looks once a second.
DAEMON = "[OOM]\nDefaultMemoryPressureDurationSec=1s\n"
HOOK = r"""set -e
root=$1
cp -L "$root"/boot/vmlinuz-* kernel
cp -L "$root"/boot/initrd.img-* initrd
rm -rf "$root"/boot/* "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/*
mkdir -p "$root"/ebb "$root"/etc/systemd/oomd.conf.d
cp unit "$root"/etc/systemd/system/ebb-machine.service
cp disks "$root"/etc/fstab
cp daemon "$root"/etc/systemd/oomd.conf.d/ebb.conf
chroot "$root" systemctl --quiet enable ebb-machine.service
chroot "$root" systemctl --quiet mask apt-daily.timer apt-daily-upgrade.timer e2scrub_all.timer fstrim.timer
mkdir bare  # without what is mounted below it
mount --bind "$root" bare
mke2fs -q -t ext4 -d bare root 2G
umount bare
rmdir bare
"""
SECONDS_TO_MAKE = 1800
# Of the build, what runs inside.
PROGRAMS = ("ebb", "dies", "job", "random_job", "run_death_test", "run_cli_test")


class NotHere(Exception):
    """This machine cannot make or run one; says why."""


def release():
    """Debian's name of what runs here: programs that were built here need its libraries."""
    known = dict(line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line)
    if known.get("ID") != "debian" or "VERSION_CODENAME" not in known:
        raise NotHere("it is made of Debian's packages, and this is no Debian")
    return known["VERSION_CODENAME"].strip('"')


def needed_programs():
    if platform.machine() != "x86_64":
        raise NotHere(f"it is prepared for x86-64, not for {platform.machine()}")
    for program in ("qemu-system-x86_64", "mmdebstrap", "mke2fs"):
        if not shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin"):
            raise NotHere(f"no {program} here, expected after: scripts/setup long")


def cached():
    """The folder with `kernel`, `initrd` and `root`, shared by all checkouts of a user; made where it is missing."""
    needed_programs()
    debian = release()
    recipe = "\n".join((debian, *PACKAGES, *LEFT_OUT, UNIT, DISKS, DAEMON, HOOK))
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ebb"
    folder = cache / f"machine-{hashlib.sha256(recipe.encode()).hexdigest()[:16]}"
    if folder.exists():
        return folder
    made = folder.with_name(f"{folder.name}.{os.getpid()}")
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    print(f"makes a root file system of Debian {debian} in {folder}, once", flush=True)
    try:
        bootstrap(debian, made)
        made.rename(folder)
    except OSError:  # another checkout was quicker
        if not folder.exists():
            raise
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return folder


def bootstrap(debian, folder):
    for name, text in (("unit", UNIT), ("disks", DISKS), ("daemon", DAEMON), ("hook", HOOK)):
        (folder / name).write_text(text)
    command = ["mmdebstrap", "--variant=minbase", "--skip=check/empty", f"--include={','.join(PACKAGES)}",
               *(f"--dpkgopt=path-exclude={path}" for path in LEFT_OUT),
               f"--customize-hook=cd '{folder}' && sh hook \"$1\"", debian, "/dev/null"]
    environment = {**os.environ, "PATH": f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"}
    try:
        done = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, timeout=SECONDS_TO_MAKE,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    except subprocess.TimeoutExpired:
        raise NotHere(f"mmdebstrap has not ended in {SECONDS_TO_MAKE} s") from None
    if done.returncode != 0:
        said = [line for line in done.stdout.splitlines() if line.startswith(("E:", "W:", "Err:"))]
        raise NotHere(f"mmdebstrap: {'; '.join(said[:3]) or done.stdout[-300:]}")


def programs_disk(path, staging, source, build, settings):
    """A disk with the guest's part of the tests, and what these need under the paths that were compiled into them."""
    shutil.rmtree(staging, ignore_errors=True)
    ignored = shutil.ignore_patterns("__pycache__", "*.a", "*.o")
    shutil.copytree(Path(__file__).parent, staging / "machine", ignore=ignored)
    tree = staging / "tree"
    tests = source / "tests"
    wanted = [build / "lib", source / "python" / "ebb", tests / "chaos", tests / "run" / "programs"]
    for folder in wanted:
        shutil.copytree(folder, tree / folder.relative_to("/"), symlinks=True, ignore=ignored)
    for program in (build / "bin" / name for name in PROGRAMS):
        place = tree / program.relative_to("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(program, place)
    scripts = tree / source.relative_to("/") / "scripts"
    scripts.mkdir(parents=True)
    shutil.copy2(source / "scripts" / "chaos", scripts)
    (staging / "settings.json").write_text(json.dumps(settings))
    mebibytes = sum(file.stat().st_size for file in staging.rglob("*") if file.is_file()) // (1 << 20) + 32
    subprocess.run(["/sbin/mke2fs", "-q", "-F", "-t", "ext4", "-L", "ebb", "-m", "0", "-d", staging, path,
                    f"{mebibytes}M"], check=True, stdout=subprocess.DEVNULL)

