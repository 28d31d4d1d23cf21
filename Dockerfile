# One image for workers and commands: `docker run IMAGE crawl corpus …`, `docker run IMAGE seed …`.
FROM python:3.11-slim-bookworm AS build
# The fsspec driver of your object store: s3fs, gcsfs, adlfs; empty for local folders.
ARG STORE_DRIVER=s3fs
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
COPY requirements.txt requirements-model.txt requirements-lock*.txt /build/
RUN python -m venv /venv \
    && if [ -f /build/requirements-lock.txt ]; then file=/build/requirements-lock.txt; else file=/build/requirements.txt; fi \
    && /venv/bin/pip install --quiet --upgrade pip \
    && /venv/bin/pip install --quiet --require-hashes --no-deps -r /build/requirements-model.txt \
    && /venv/bin/pip install --quiet -r "$file" $STORE_DRIVER

FROM python:3.11-slim-bookworm
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
RUN useradd --uid 10001 --create-home --shell /usr/sbin/nologin crawler
COPY --from=build /venv /venv
WORKDIR /app
COPY scrapy.cfg ./
COPY crawler crawler
# The commit of the code, for the manifest: docker build --build-arg COMMIT=$(git rev-parse HEAD) .
ARG COMMIT=
RUN if [ -n "$COMMIT" ]; then printf '%s\n' "$COMMIT" > crawler/COMMIT; fi
USER 10001
# Exec form: SIGTERM reaches the crawler itself, which finishes what is in flight.
ENTRYPOINT ["scrapy"]
CMD ["list"]
