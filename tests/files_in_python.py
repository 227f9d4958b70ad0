"""Reads the files of tests/files_in_python.sh, each by another way than weft does, and compares."""

import json
import struct
import sys
from pathlib import Path

import h5py
import numpy as np


def read_safetensors(path):
    """Arrays and texts of a file, by numpy alone."""
    data = path.read_bytes()
    (size,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + size])
    texts = header.pop("__metadata__")
    arrays = {}
    for name, entry in header.items():
        assert entry["dtype"] == "F32", entry
        begin, end = entry["data_offsets"]
        values = np.frombuffer(data[8 + size + begin : 8 + size + end], dtype="<f4")
        arrays[name] = values.reshape(entry["shape"])
    return arrays, texts


def masked_crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def varint(data, at):
    number = shift = 0
    while True:
        number |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return number, at


def fields(data):
    """(number, value) of each field of a protocol buffer."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key % 8 == 0:
            value, at = varint(data, at)
        else:
            size = {1: 8, 5: 4}.get(key % 8)
            if size is None:
                size, at = varint(data, at)
            value, at = data[at : at + size], at + size
        yield key // 8, value


def read_events(path):
    """(step, tag, value) of every point of an event file."""
    data, at, points = path.read_bytes(), 0, []
    while at < len(data):
        size, checksum = struct.unpack_from("<QI", data, at)
        assert checksum == masked_crc32c(data[at : at + 8])
        record = data[at + 12 : at + 12 + size]
        assert struct.unpack_from("<I", data, at + 12 + size)[0] == masked_crc32c(record)
        at += size + 16
        event = dict(fields(record))
        for _, value in fields(event.get(5, b"")):
            one = dict(fields(value))
            points.append((event[2], one[1].decode(), struct.unpack("<f", one[2])[0]))
    return points


def check_model(folder):
    arrays, texts = read_safetensors(folder / "model.safetensors")
    newest = sorted((folder / "run/checkpoints").glob("ckpt-*.h5"))[-1]
    with h5py.File(newest, "r") as checkpoint:
        saved = {}
        checkpoint["params"].visititems(
            lambda name, item: saved.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None
        )
        checkpoint["states"].visititems(
            lambda name, item: saved.update({"states/" + name: item[()]}) if isinstance(item, h5py.Dataset) else None
        )
        assert checkpoint["meta"].attrs["step"] == 12
        assert texts["config"] == checkpoint["meta"].attrs["config"]
        assert texts["alphabet"] == checkpoint["data"].attrs["alphabet"]
        assert any(name.startswith("m/") for name in checkpoint["optim"].keys()) or "m" in checkpoint["optim"]
    assert saved.keys() == arrays.keys(), saved.keys() ^ arrays.keys()
    for name, values in saved.items():
        assert values.dtype == np.float32 and values.shape == arrays[name].shape, name
        assert np.array_equal(values, arrays[name]), name
    assert any(np.abs(values).max() > 0 for values in arrays.values())
    assert any(name.startswith("states/") for name in arrays)
    return len(arrays), json.loads(texts["alphabet"])


def check_prepared(folder, alphabet):
    text = (folder / "text.txt").read_text(encoding="utf-8")
    with h5py.File(folder / "text.h5", "r") as prepared:
        characters = "".join(map(chr, prepared["alphabet"][()]))
        tokens = prepared["tokens"][()]
        splits = prepared["splits"][()]
        source = prepared["sources/0"].attrs
        assert source["name"] == "text.txt" and source["bytes"] == (folder / "text.txt").stat().st_size
    assert tokens.dtype == np.uint8
    assert characters == alphabet == "".join(sorted(set(text)))
    assert "".join(characters[token] for token in tokens) == text
    assert splits.sum(axis=1)[-1] == len(text) and splits[0, 1] == len(text) * 8 // 10


def check_events(folder):
    records = [json.loads(line) for line in (folder / "run/metrics.jsonl").open()]
    points = read_events(folder / "run/tensorboard/events.out.tfevents.weft")
    for tag, metric in (("train/loss", "loss"), ("train/lr", "lr"), ("validation/loss", "validation_loss")):
        expected = [(record["step"], np.float32(record[metric])) for record in records if metric in record]
        assert [(step, np.float32(value)) for step, name, value in points if name == tag] == expected, tag
    return len(points)


if __name__ == "__main__":
    where = Path(sys.argv[1])
    arrays, alphabet = check_model(where)
    check_prepared(where, alphabet)
    print(f"ok: {arrays} arrays, {len(alphabet)} characters, {check_events(where)} points")
