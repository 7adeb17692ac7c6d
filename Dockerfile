# docker build -t pucli . && docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/data" pucli auto --data customers.csv --label bought --positive yes
FROM python:3.11-slim
COPY . /src
RUN pip install --no-cache-dir "/src[parquet]" && rm -rf /src
RUN useradd --create-home pucli
USER pucli
ENV PUCLI_DATA_DIR=/data/pucli-data NUMBA_CACHE_DIR=/tmp/numba
WORKDIR /data
ENTRYPOINT ["pucli"]
