// memset and memcpy, several words at a time. Descriptors are built with them, and the C library works byte by byte.
#include <cstddef>
#include <cstdint>

namespace {

using AliasedWord = std::uint32_t __attribute__((may_alias));

bool aligned(const void* a) { return (reinterpret_cast<std::uintptr_t>(a) & 3) == 0; }

}  // namespace

extern "C" void* memset(void* to, int value, std::size_t bytes) {
  auto* p = static_cast<unsigned char*>(to);
  const std::uint32_t word = 0x0101'0101U * static_cast<unsigned char>(value);
  for (; bytes > 0 && !aligned(p); --bytes) *p++ = static_cast<unsigned char>(value);
  for (; bytes >= 32; bytes -= 32, p += 32) {
    auto* w = reinterpret_cast<AliasedWord*>(p);
    w[0] = word, w[1] = word, w[2] = word, w[3] = word;
    w[4] = word, w[5] = word, w[6] = word, w[7] = word;
  }
  for (; bytes >= 4; bytes -= 4, p += 4) *reinterpret_cast<AliasedWord*>(p) = word;
  for (; bytes > 0; --bytes) *p++ = static_cast<unsigned char>(value);
  return to;
}

extern "C" void* memcpy(void* __restrict to, const void* __restrict from, std::size_t bytes) {
  auto* p = static_cast<unsigned char*>(to);
  const auto* q = static_cast<const unsigned char*>(from);
  if (aligned(p) && aligned(q)) {
    for (; bytes >= 32; bytes -= 32, p += 32, q += 32) {
      auto* w = reinterpret_cast<AliasedWord*>(p);
      const auto* v = reinterpret_cast<const AliasedWord*>(q);
      const AliasedWord a = v[0], b = v[1], c = v[2], d = v[3], e = v[4], f = v[5], g = v[6], h = v[7];
      w[0] = a, w[1] = b, w[2] = c, w[3] = d, w[4] = e, w[5] = f, w[6] = g, w[7] = h;
    }
    for (; bytes >= 4; bytes -= 4, p += 4, q += 4)
      *reinterpret_cast<AliasedWord*>(p) = *reinterpret_cast<const AliasedWord*>(q);
  }
  for (; bytes > 0; --bytes) *p++ = *q++;
  return to;
}

extern "C" void* memmove(void* to, const void* from, std::size_t bytes) {
  auto* p = static_cast<unsigned char*>(to);
  const auto* q = static_cast<const unsigned char*>(from);
  if (p <= q || p >= q + bytes) return memcpy(to, from, bytes);
  while (bytes-- > 0) p[bytes] = q[bytes];
  return to;
}
