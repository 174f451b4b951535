# An image with the command `backplane`: the first stage builds the wheel, the second installs it. `scripts/docker` builds and tries it.
FROM debian:bookworm AS build
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates git python3
WORKDIR /src
COPY . .
RUN scripts/wheel

FROM debian:bookworm-slim
# Not empty: also installs LibTorch.
ARG WITH_TORCH=
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates python3 python3-venv \
  && rm -rf /var/lib/apt/lists/*
COPY --from=build /src/build/packages/*.whl /tmp/
RUN python3 -m venv /opt/backplane && /opt/backplane/bin/pip install --no-cache-dir /tmp/*.whl && rm /tmp/*.whl
ENV PATH=/opt/backplane/bin:$PATH XDG_DATA_HOME=/opt/backplane/share
RUN if [ -n "$WITH_TORCH" ]; then backplane setup torch; fi
WORKDIR /work
ENTRYPOINT ["backplane"]
CMD ["--help"]
