"""librdkafka's mock cluster, in a process of its own: `python broker.py TOPIC PARTITIONS`, then a command a line.

Prints the address; `down`, `up`, `fail CODE …` (the next Produce requests are refused with these) print `done`.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import confluent_kafka

PRODUCE = 0  # the number of the request in Kafka's protocol


def library() -> ctypes.CDLL:
    folder = Path(confluent_kafka.__file__).parent
    (path,) = [*(folder.parent / "confluent_kafka.libs").glob("librdkafka*"), *folder.glob(".dylibs/librdkafka.1*")][:1]
    found = ctypes.CDLL(str(path))
    for name in ("rd_kafka_conf_new", "rd_kafka_new", "rd_kafka_mock_cluster_new"):
        getattr(found, name).restype = ctypes.c_void_p
    found.rd_kafka_mock_cluster_bootstraps.restype = ctypes.c_char_p
    return found


def main(topic: str, partitions: int) -> None:
    kafka = library()
    error = ctypes.create_string_buffer(512)
    conf = ctypes.c_void_p(kafka.rd_kafka_conf_new())
    client = ctypes.c_void_p(kafka.rd_kafka_new(0, conf, error, ctypes.c_size_t(512)))
    cluster = ctypes.c_void_p(kafka.rd_kafka_mock_cluster_new(client, 1))
    for name, count in ((topic, partitions), (f"{topic}.withdrawals", 1)):
        assert kafka.rd_kafka_mock_topic_create(cluster, name.encode(), count, 1) == 0
    print(kafka.rd_kafka_mock_cluster_bootstraps(cluster).decode(), flush=True)
    for line in sys.stdin:
        command, *codes = line.split()
        if command == "fail":
            errors = (ctypes.c_int * len(codes))(*map(int, codes))
            kafka.rd_kafka_mock_push_request_errors_array(cluster, PRODUCE, ctypes.c_size_t(len(codes)), errors)
        else:
            getattr(kafka, f"rd_kafka_mock_broker_set_{command}")(cluster, 1)
        print("done", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
