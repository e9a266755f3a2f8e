# wildtool with all its packages, for a user without rights: docs/gate.md says how to run it.
FROM python:3.13-slim AS build
WORKDIR /source
COPY . .
RUN python -m venv /wildtool \
    && /wildtool/bin/pip install --no-cache-dir --constraint constraints.txt ".[report]" ./packages/*

FROM python:3.13-slim
RUN useradd --create-home --uid 10001 wildtool && install --directory --owner wildtool /work
COPY --from=build /wildtool /wildtool
ENV PATH=/wildtool/bin:$PATH PYTHONDONTWRITEBYTECODE=1
USER wildtool
WORKDIR /work
ENTRYPOINT ["wildtool"]
CMD ["--help"]
