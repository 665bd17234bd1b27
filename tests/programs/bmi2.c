// BMI1 and BMI2: pext, pdep, mulx, shifts without flags, andn, tzcnt, lzcnt, bzhi, adcx-like carries.
#include <immintrin.h>
#include <stdio.h>

int main(void) {
  unsigned long long x = 0x0123456789abcdefull, high, sum = 0;
  for (unsigned i = 1; i < 200; i++) {
    x = x * 6364136223846793005ull + 1442695040888963407ull;
    sum += _pext_u64(x, 0x00ff00ff0f0f0f0full) ^ _pdep_u64(x, 0xf0f0f0f0ffff0000ull);
    sum ^= _mulx_u64(x, sum | 1, &high);
    sum += high + _bzhi_u64(x, i & 63) + _andn_u64(x, sum) + _tzcnt_u64(x) + _lzcnt_u64(x | 1) + _blsr_u64(x);
    sum ^= x << (i & 31) ^ x >> (i & 15);
    unsigned char carry = _addcarry_u64(0, sum, x, &sum);
    _addcarry_u64(carry, sum, 5, &sum);
  }
  printf("%016llx\n", sum);
  return 0;
}
