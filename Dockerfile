# memopt with the compilers and emulators that measure what it writes:
#     docker build -t memopt .
#     docker run --rm -v "$PWD:/work" memopt compile net.tflite --target=cortex-m4 -o firmware
FROM python:3.11-slim-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends git
COPY . /source
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels /source

FROM python:3.11-slim-bookworm
COPY .ci/packages /usr/local/bin/memopt-packages
RUN memopt-packages build arm riscv && rm -rf /var/lib/apt/lists/*
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir /wheels/*.whl && rm -rf /wheels
WORKDIR /work
ENTRYPOINT ["memopt"]
