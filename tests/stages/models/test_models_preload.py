"""What a fork server loads for its processes."""

from crawler.stages.models.preload import preload


def test_what_cannot_be_loaded_leaves_the_rest_to_be_loaded():
    loaded = []
    preload(lambda: loaded.append(1), lambda: 1 / 0, lambda: loaded.append(2))
    preload()
    assert loaded == [1, 2]
