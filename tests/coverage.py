#!/usr/bin/env python3
"""Lists what the tests of a build with the preset coverage did not reach.

    cmake --preset coverage && ninja -C build/coverage core_tests experiments_tests   # and others
    ctest --test-dir build/coverage -L '^part$'
    tests/coverage.py build/coverage

Prints for each folder how many of its lines ran, then every function of weft that was never called, with
the number of its lines. A template or an inlined function counts as called if any copy of it was.
"""

import collections
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODULES = ("core", "autograd", "layers", "optim", "data", "experiments")


def counts_of(counters):
    """What gcov says of some files of counters, one object each."""
    command = ["gcov", "--json-format", "--stdout", "--demangled-names"]
    printed = subprocess.run(command + counters, capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in printed.splitlines() if line.startswith("{")]


def source(name, folder):
    """The file's path in the tree, or nothing for what is not weft's."""
    try:
        path = (pathlib.Path(folder) / name).resolve().relative_to(ROOT)
    except ValueError:
        return None
    return path if path.parts[0] in MODULES else None


build = pathlib.Path(sys.argv[1]).resolve()
files = sorted(str(path) for path in build.rglob("*.gcda") if "_f64.dir" not in str(path))
lines = collections.defaultdict(lambda: collections.defaultdict(int))  # of a file, by number
functions = collections.defaultdict(lambda: [0, ""])  # by file and first line: calls, name
for first in range(0, len(files), 50):
    for unit in counts_of(files[first : first + 50]):
        for file in unit["files"]:
            path = source(file["file"], unit["current_working_directory"])
            if path is None:
                continue
            for line in file["lines"]:
                lines[path][line["line_number"]] += line["count"]
            for function in file["functions"]:
                entry = functions[path, function["start_line"], function["end_line"]]
                entry[0] += function["execution_count"]
                entry[1] = function["demangled_name"]

folders = collections.defaultdict(lambda: [0, 0])
for path, counts in lines.items():
    totals = folders[str(path.parent)]
    totals[0] += sum(count > 0 for count in counts.values())
    totals[1] += len(counts)
for folder, (ran, all_lines) in sorted(folders.items()):
    print(f"{folder:32} {ran:6} of {all_lines:6} lines {100 * ran / all_lines:5.1f} %")
ran, all_lines = (sum(totals[i] for totals in folders.values()) for i in (0, 1))
print(f"{'all':32} {ran:6} of {all_lines:6} lines {100 * ran / all_lines:5.1f} %\n")
for (path, start, end), (calls, name) in sorted(functions.items()):
    if calls == 0:
        print(f"{path}:{start} {end - start + 1:4} lines  {name}")
