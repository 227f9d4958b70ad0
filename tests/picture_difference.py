#!/usr/bin/env python3
"""How far two PNG pictures of the same size are apart, loosely: text may be set in other fonts.

    tests/picture_difference.py A.png B.png COLOUR...

Both are blurred over cells of 4 x 4 pixels. Exits with 1 when their cells differ by more than 6 of
255 on average, or when a colour (#rrggbb) covers less than half as much of one as of the other.
"""
import struct
import sys
import zlib


def read(path):
    """Rows of (r, g, b), with transparency over white."""
    data = open(path, "rb").read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", path
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack(">IIBB", body[:10])
        elif kind == b"IDAT":
            packed += body
        at += 12 + size
    channels = {0: 1, 2: 3, 6: 4}[colour]
    assert depth == 8, path
    raw, stride = zlib.decompress(packed), width * channels
    rows, before = [], bytearray(stride)
    for y in range(height):
        kind, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1 : (y + 1) * (stride + 1)])
        if kind == 2:
            line = bytearray(a + b & 255 for a, b in zip(line, before))
        for i in range(stride if kind not in (0, 2) else 0):
            left = line[i - channels] if i >= channels else 0
            corner = before[i - channels] if i >= channels else 0
            up = before[i]
            if kind == 1:
                line[i] = line[i] + left & 255
            elif kind == 3:
                line[i] = line[i] + (left + up) // 2 & 255
            elif kind == 4:
                guess = left + up - corner
                nearest = min((left, up, corner), key=lambda v: abs(guess - v))
                line[i] = line[i] + nearest & 255
        rows.append(line)
        before = line
    def over_white(r, g, b, a):
        return tuple((c * a + 255 * (255 - a)) // 255 for c in (r, g, b))
    def pixels(line):
        if channels == 1:
            return list(zip(line, line, line))
        colours = [line[c::channels] for c in range(channels)]
        if channels == 3 or min(colours[3]) == 255:
            return list(zip(*colours[:3]))
        return [over_white(*p) for p in zip(*colours)]
    return [pixels(line) for line in rows]


def cells(rows, size=4):
    out = []
    for y in range(0, len(rows) - size + 1, size):
        for x in range(0, len(rows[0]) - size + 1, size):
            block = [p for row in rows[y : y + size] for p in row[x : x + size]]
            out.append([sum(c) / len(block) for c in zip(*block)])
    return out


def covered(rows, colour):
    want = tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return sum(sum(abs(a - b) for a, b in zip(p, want)) < 60 for row in rows for p in row)


first, second = read(sys.argv[1]), read(sys.argv[2])
if (len(first), len(first[0])) != (len(second), len(second[0])):
    sys.exit(f"{len(first[0])}x{len(first)} and {len(second[0])}x{len(second)} pixels")
a, b = cells(first), cells(second)
mean = sum(abs(p - q) for x, y in zip(a, b) for p, q in zip(x, y)) / (3 * len(a))
if mean > 6:
    sys.exit(f"cells differ by {mean:.1f} of 255 on average")
for colour in sys.argv[3:]:
    one, other = covered(first, colour), covered(second, colour)
    if min(one, other) * 2 < max(one, other) and max(one, other) > 20:
        sys.exit(f"{colour} covers {one} and {other} pixels")
print(f"{mean:.2f} of 255")
