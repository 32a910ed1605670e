# AttnVP in a container: docker build -t attnvp . && docker run --rm -v "$PWD:/work" attnvp compare --net bert-base
FROM debian:12 AS build
WORKDIR /src
COPY packages.txt .
RUN apt-get update && \
    sed -E 's/#.*//; /^[[:space:]]*$/d' packages.txt | DEBIAN_FRONTEND=noninteractive xargs apt-get install -y --no-install-recommends
COPY . .
RUN cmake --preset release -DATTNVP_TESTS=OFF && cmake --build --preset release && \
    cpack --config build/release/CPackConfig.cmake -G DEB -B /package

FROM debian:12-slim
COPY --from=build /package/*.deb /tmp/
RUN apt-get update && apt-get install -y --no-install-recommends /tmp/*.deb && rm -rf /tmp/*.deb /var/lib/apt/lists/*
WORKDIR /work
ENTRYPOINT ["attnvp"]
