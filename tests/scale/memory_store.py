"""A store in memory whose clock the test turns."""

from dataclasses import replace

from wildtool.scale.store import ObjectStore, StoredObject, StoreError


class MemoryStore(ObjectStore):
    """Counts the requests that a bucket would be sent: a list takes one for each thousand objects."""

    url = "memory:///run"

    def __init__(self) -> None:
        self.now = 1_000.0
        self.requests = 0
        self.broken = False
        self._objects: dict[str, tuple[bytes, StoredObject]] = {}

    def create(self, key: str, data: bytes) -> bool:
        self._request()
        if key in self._objects:
            return False
        self._write(key, data)
        return True

    def put(self, key: str, data: bytes) -> None:
        self._request()
        self._write(key, data)

    def get(self, key: str) -> bytes | None:
        self._request()
        return self._objects[key][0] if key in self._objects else None

    def entries(self, prefix: str) -> list[StoredObject]:
        entries = [
            replace(entry) for key, (_, entry) in sorted(self._objects.items()) if key.startswith(prefix)
        ]
        self._request(1 + len(entries) // 1_000)
        return entries

    def folders(self) -> list[str]:
        return sorted({key.split("/")[0] for key in self._objects if "/" in key})

    def below(self, name: str) -> "MemoryStore":
        raise NotImplementedError

    def _write(self, key: str, data: bytes) -> None:
        self._objects[key] = data, StoredObject(key, len(data), self.now)

    def _request(self, count: int = 1) -> None:
        if self.broken:
            raise StoreError(f"{self.url}: does not answer")
        self.requests += count
