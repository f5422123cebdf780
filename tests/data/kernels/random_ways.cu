// Random control flow, made by random_ways.py. Lane t draws its ways from in[t]; at each place v that it
// comes to it adds shares[n] to o[32 v + t], where n lanes are there together: the sum over lanes is a
// multiple of n * shares[n], which is the same for all n, for each execution. What an H100 counts is in
// random_ways.csv.

#define DRAW() (r = r * 1664525u + 1013904223u, int(r >> 20))

__device__ __forceinline__ void visit(volatile unsigned long long* o,
                                      const volatile unsigned long long* shares) {
  unsigned mask;
  asm volatile("activemask.b32 %0;" : "=r"(mask));
  *o = *o + shares[__popc(mask)];
}

extern "C" __global__ void way0(const unsigned* in, volatile unsigned long long* o,
                                const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i0;
  visit(o + 0 * 32, shares);
  if ((DRAW() & 3) != 1) {
    i0 = DRAW() & 3;
    do {
      visit(o + 1 * 32, shares);
      visit(o + 2 * 32, shares);
      for (int i1 = 0, n = DRAW() & 7; i1 < n; ++i1) {
        visit(o + 3 * 32, shares);
        visit(o + 4 * 32, shares);
        visit(o + 5 * 32, shares);
      }
      visit(o + 6 * 32, shares);
    } while (--i0 > 0);
  }
  visit(o + 7 * 32, shares);
}

extern "C" __global__ void way1(const unsigned* in, volatile unsigned long long* o,
                                const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i0;
  int i1;
  int i2;
  if ((DRAW() & 7) < 7 || (DRAW() & 1) != 1) {
    i0 = DRAW() & 3;
    do {
      visit(o + 0 * 32, shares);
      i1 = DRAW() & 7;
      while (i1-- > 0) {
        visit(o + 1 * 32, shares);
        i2 = DRAW() & 3;
        while (i2-- > 0) {
          visit(o + 2 * 32, shares);
          switch (DRAW() & 7) {
            case 0: visit(o + 3 * 32, shares); break;
            case 1: visit(o + 4 * 32, shares); break;
            case 2: visit(o + 5 * 32, shares);
            case 3: visit(o + 6 * 32, shares); break;
            case 4: visit(o + 7 * 32, shares); break;
          }
        }
      }
      visit(o + 8 * 32, shares);
    } while (--i0 > 0);
  }
  visit(o + 9 * 32, shares);
}

extern "C" __global__ void way2(const unsigned* in, volatile unsigned long long* o,
                                const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i0;
  i0 = DRAW() & 3;
  do {
    visit(o + 0 * 32, shares);
    switch (DRAW() & 7) {
      case 0: visit(o + 1 * 32, shares); break;
      case 1: visit(o + 2 * 32, shares); break;
      case 2: visit(o + 3 * 32, shares);
      case 3: visit(o + 4 * 32, shares); break;
      default: visit(o + 5 * 32, shares);
    }
  } while (--i0 > 0);
  visit(o + 6 * 32, shares);
}

extern "C" __global__ void way3(const unsigned* in, volatile unsigned long long* o,
                                const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i1;
  int i2;
  for (int i0 = 0, n = DRAW() & 7; i0 < n; ++i0) {
    visit(o + 0 * 32, shares);
    if ((DRAW() & 3) == 3 || (DRAW() & 7) != 0) {
      if ((DRAW() & 7) < 0 || (DRAW() & 3) < 0) {
        i1 = DRAW() & 7;
        do {
          visit(o + 1 * 32, shares);
          visit(o + 2 * 32, shares);
        } while (--i1 > 0);
      }
      if ((DRAW() & 3) != 3 || (DRAW() & 1) == 1) {
        visit(o + 3 * 32, shares);
      } else {
        break;
      }
      i2 = DRAW() & 7;
      do {
        visit(o + 4 * 32, shares);
        visit(o + 5 * 32, shares);
      } while (--i2 > 0);
    } else {
      visit(o + 6 * 32, shares);
    }
    visit(o + 7 * 32, shares);
  }
  visit(o + 8 * 32, shares);
}

extern "C" __global__ void way4(const unsigned* in, volatile unsigned long long* o,
                                const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i2;
  if ((DRAW() & 7) < 5 || (DRAW() & 3) < 0) {
    visit(o + 0 * 32, shares);
    if ((DRAW() & 7) != 1) {
      visit(o + 1 * 32, shares);
    } else {
      visit(o + 2 * 32, shares);
    }
  }
  for (int i0 = 0, n = DRAW() & 7; i0 < n; ++i0) {
    visit(o + 3 * 32, shares);
    visit(o + 4 * 32, shares);
    {
      if ((DRAW() & 1) == 1 || (DRAW() & 7) == 7) {
        if ((DRAW() & 1) == 1) {
          visit(o + 5 * 32, shares);
        }
      } else {
        for (int i1 = 0, n = DRAW() & 7; i1 < n; ++i1) {
          visit(o + 6 * 32, shares);
          i2 = DRAW() & 7;
          while (i2-- > 0) {
            visit(o + 7 * 32, shares);
            visit(o + 8 * 32, shares);
            visit(o + 9 * 32, shares);
          }
        }
      }
    }
  label0:;
    visit(o + 10 * 32, shares);
  }
  visit(o + 11 * 32, shares);
}

extern "C" __global__ void way5(const unsigned* in, volatile unsigned long long* o,
                                const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i1;
  visit(o + 0 * 32, shares);
  for (int i0 = 0, n = DRAW() & 3; i0 < n; ++i0) {
    visit(o + 1 * 32, shares);
    i1 = DRAW() & 7;
    while (i1-- > 0) {
      visit(o + 2 * 32, shares);
      for (int i2 = 0, n = DRAW() & 3; i2 < n; ++i2) {
        visit(o + 3 * 32, shares);
        visit(o + 4 * 32, shares);
      }
    }
  }
  visit(o + 5 * 32, shares);
}

extern "C" __global__ void way6(const unsigned* in, volatile unsigned long long* o,
                                const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i0;
  int i2;
  int i4;
  i0 = DRAW() & 7;
  while (i0-- > 0) {
    visit(o + 0 * 32, shares);
    for (int i1 = 0, n = DRAW() & 7; i1 < n; ++i1) {
      visit(o + 1 * 32, shares);
      i2 = DRAW() & 3;
      while (i2-- > 0) {
        visit(o + 2 * 32, shares);
        for (int i3 = 0, n = DRAW() & 7; i3 < n; ++i3) {
          visit(o + 3 * 32, shares);
          i4 = DRAW() & 3;
          do {
            visit(o + 4 * 32, shares);
            visit(o + 5 * 32, shares);
            visit(o + 6 * 32, shares);
          } while (--i4 > 0);
          visit(o + 7 * 32, shares);
        }
      }
      if ((DRAW() & 1) != 1) {
        visit(o + 8 * 32, shares);
        break;
      } else {
        visit(o + 9 * 32, shares);
      }
    }
  }
  visit(o + 10 * 32, shares);
}

extern "C" __global__ void way7(const unsigned* in, volatile unsigned long long* o,
                                const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i0;
  visit(o + 0 * 32, shares);
  visit(o + 1 * 32, shares);
  if ((DRAW() & 7) < 6) {
    i0 = DRAW() & 7;
    do {
      visit(o + 2 * 32, shares);
      visit(o + 3 * 32, shares);
    } while (--i0 > 0);
  } else {
    visit(o + 4 * 32, shares);
  }
  visit(o + 5 * 32, shares);
}

extern "C" __global__ void way8(const unsigned* in, volatile unsigned long long* o,
                                const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i0;
  visit(o + 0 * 32, shares);
  if ((DRAW() & 3) == 2) {
    if ((DRAW() & 1) != 1 || (DRAW() & 1) == 1) {
      if ((DRAW() & 1) != 1) {
        i0 = DRAW() & 3;
        while (i0-- > 0) {
          visit(o + 1 * 32, shares);
          for (int i1 = 0, n = DRAW() & 7; i1 < n; ++i1) {
            visit(o + 2 * 32, shares);
            visit(o + 3 * 32, shares);
            visit(o + 4 * 32, shares);
          }
        }
      } else {
        if ((DRAW() & 1) < 1 || (DRAW() & 7) == 5) {
          visit(o + 5 * 32, shares);
          return;
        } else {
          visit(o + 6 * 32, shares);
        }
      }
    } else {
      visit(o + 7 * 32, shares);
    }
  } else {
    visit(o + 8 * 32, shares);
    return;
  }
  visit(o + 9 * 32, shares);
}

extern "C" __global__ void way9(const unsigned* in, volatile unsigned long long* o,
                                const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i0;
  int i1;
  int i2;
  if ((DRAW() & 1) < 1) {
    visit(o + 0 * 32, shares);
  } else {
    i0 = DRAW() & 3;
    while (i0-- > 0) {
      visit(o + 1 * 32, shares);
      if ((DRAW() & 3) == 3) {
        i1 = DRAW() & 3;
        do {
          visit(o + 2 * 32, shares);
          if ((DRAW() & 3) != 1) {
            visit(o + 3 * 32, shares);
          }
          visit(o + 4 * 32, shares);
        } while (--i1 > 0);
        i2 = DRAW() & 3;
        do {
          visit(o + 5 * 32, shares);
          visit(o + 6 * 32, shares);
        } while (--i2 > 0);
      } else {
        visit(o + 7 * 32, shares);
      }
    }
  }
  visit(o + 8 * 32, shares);
}

extern "C" __global__ void way10(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  switch (DRAW() & 7) {
    case 0: visit(o + 0 * 32, shares); break;
    case 1: visit(o + 1 * 32, shares); break;
    case 2: visit(o + 2 * 32, shares);
  }
  if ((DRAW() & 7) != 6 && (DRAW() & 1) != 1) {
    switch (DRAW() & 7) {
      case 0: visit(o + 3 * 32, shares); break;
      case 1: visit(o + 4 * 32, shares); break;
      case 2: visit(o + 5 * 32, shares); break;
      case 3: visit(o + 6 * 32, shares);
    }
    for (int i0 = 0, n = DRAW() & 7; i0 < n; ++i0) {
      visit(o + 7 * 32, shares);
      switch (DRAW() & 7) {
        case 0: visit(o + 8 * 32, shares);
        case 1: visit(o + 9 * 32, shares);
        default: visit(o + 10 * 32, shares);
      }
    }
  }
  visit(o + 11 * 32, shares);
}

extern "C" __global__ void way11(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i0;
  switch (DRAW() & 7) {
    case 0: visit(o + 0 * 32, shares);
    case 1: visit(o + 1 * 32, shares); break;
    case 2: visit(o + 2 * 32, shares);
  }
  i0 = DRAW() & 7;
  while (i0-- > 0) {
    visit(o + 3 * 32, shares);
    switch (DRAW() & 7) {
      case 0: visit(o + 4 * 32, shares); break;
      case 1: visit(o + 5 * 32, shares); break;
      default: visit(o + 6 * 32, shares); break;
    }
  }
  visit(o + 7 * 32, shares);
}

extern "C" __global__ void way12(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i3;
  if ((DRAW() & 3) != 0 && (DRAW() & 3) == 1) {
    for (int i0 = 0, n = DRAW() & 7; i0 < n; ++i0) {
      visit(o + 0 * 32, shares);
      if ((DRAW() & 7) == 3 && (DRAW() & 3) < 2) {
        if ((DRAW() & 3) == 0 && (DRAW() & 3) != 0) {
          for (int i1 = 0, n = DRAW() & 3; i1 < n; ++i1) {
            visit(o + 1 * 32, shares);
            visit(o + 2 * 32, shares);
          }
          visit(o + 3 * 32, shares);
        }
      } else {
        visit(o + 4 * 32, shares);
        continue;
      }
    }
  }
  for (int i2 = 0, n = DRAW() & 3; i2 < n; ++i2) {
    visit(o + 5 * 32, shares);
    visit(o + 6 * 32, shares);
    i3 = DRAW() & 7;
    do {
      visit(o + 7 * 32, shares);
      visit(o + 8 * 32, shares);
    } while (--i3 > 0);
  }
  visit(o + 9 * 32, shares);
}

extern "C" __global__ void way13(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i2;
  if ((DRAW() & 3) != 1 && (DRAW() & 1) == 1) {
    if ((DRAW() & 1) == 1 && (DRAW() & 3) != 0) {
      visit(o + 0 * 32, shares);
      if ((DRAW() & 1) < 1) {
        if ((DRAW() & 1) < 1) {
          for (int i0 = 0, n = DRAW() & 7; i0 < n; ++i0) {
            visit(o + 1 * 32, shares);
            visit(o + 2 * 32, shares);
          }
        } else {
        }
        if ((DRAW() & 1) != 1) {
        }
      }
      visit(o + 3 * 32, shares);
    }
    for (int i1 = 0, n = DRAW() & 3; i1 < n; ++i1) {
      visit(o + 4 * 32, shares);
      visit(o + 5 * 32, shares);
      visit(o + 6 * 32, shares);
    }
    i2 = DRAW() & 7;
    while (i2-- > 0) {
      visit(o + 7 * 32, shares);
      visit(o + 8 * 32, shares);
    }
  }
  visit(o + 9 * 32, shares);
}

extern "C" __global__ void way14(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i0;
  int i1;
  visit(o + 0 * 32, shares);
  i0 = DRAW() & 3;
  while (i0-- > 0) {
    visit(o + 1 * 32, shares);
    visit(o + 2 * 32, shares);
    visit(o + 3 * 32, shares);
    visit(o + 4 * 32, shares);
  }
  if ((DRAW() & 1) != 1) {
    visit(o + 5 * 32, shares);
    if ((DRAW() & 3) == 2) {
      i1 = DRAW() & 7;
      while (i1-- > 0) {
        visit(o + 6 * 32, shares);
        if ((DRAW() & 1) < 1) {
          for (int i2 = 0, n = DRAW() & 7; i2 < n; ++i2) {
            visit(o + 7 * 32, shares);
            visit(o + 8 * 32, shares);
            visit(o + 9 * 32, shares);
          }
        } else {
          visit(o + 10 * 32, shares);
        }
      }
    }
  } else {
    visit(o + 11 * 32, shares);
  }
  visit(o + 12 * 32, shares);
}

extern "C" __global__ void way15(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  visit(o + 0 * 32, shares);
  for (int i0 = 0, n = DRAW() & 3; i0 < n; ++i0) {
    visit(o + 1 * 32, shares);
    if ((DRAW() & 3) < 1 || (DRAW() & 7) < 6) {
      if ((DRAW() & 3) < 2) {
        for (int i1 = 0, n = DRAW() & 7; i1 < n; ++i1) {
          visit(o + 2 * 32, shares);
          if ((DRAW() & 3) != 1) {
            break;
          } else {
            visit(o + 3 * 32, shares);
            continue;
          }
          visit(o + 4 * 32, shares);
        }
      }
      switch (DRAW() & 7) {
        case 0: visit(o + 5 * 32, shares); break;
        case 1: visit(o + 6 * 32, shares); break;
        case 2: visit(o + 7 * 32, shares); break;
      }
    } else {
      visit(o + 8 * 32, shares);
    }
  }
  visit(o + 9 * 32, shares);
}

extern "C" __global__ void way16(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i1;
  for (int i0 = 0, n = DRAW() & 7; i0 < n; ++i0) {
    visit(o + 0 * 32, shares);
    visit(o + 1 * 32, shares);
    if ((DRAW() & 3) == 3) {
      visit(o + 2 * 32, shares);
      return;
    } else {
      visit(o + 3 * 32, shares);
      i1 = DRAW() & 3;
      while (i1-- > 0) {
        visit(o + 4 * 32, shares);
        switch (DRAW() & 7) {
          case 0: visit(o + 5 * 32, shares); break;
          case 1: visit(o + 6 * 32, shares); break;
          case 2: visit(o + 7 * 32, shares); break;
          case 3: visit(o + 8 * 32, shares); break;
        }
      }
    }
    visit(o + 9 * 32, shares);
  }
  visit(o + 10 * 32, shares);
}

extern "C" __global__ void way17(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i0;
  int i1;
  int i2;
  if ((DRAW() & 1) != 1) {
  }
  if ((DRAW() & 3) != 1 || (DRAW() & 1) < 1) {
    if ((DRAW() & 1) < 1) {
      i0 = DRAW() & 3;
      while (i0-- > 0) {
        visit(o + 0 * 32, shares);
        i1 = DRAW() & 3;
        do {
          visit(o + 1 * 32, shares);
          i2 = DRAW() & 7;
          while (i2-- > 0) {
            visit(o + 2 * 32, shares);
            visit(o + 3 * 32, shares);
            visit(o + 4 * 32, shares);
          }
          if ((DRAW() & 1) == 1) {
            visit(o + 5 * 32, shares);
          }
          visit(o + 6 * 32, shares);
        } while (--i1 > 0);
        visit(o + 7 * 32, shares);
      }
    }
  }
  visit(o + 8 * 32, shares);
}

extern "C" __global__ void way18(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i0;
  if ((DRAW() & 7) == 0) {
    visit(o + 0 * 32, shares);
  } else {
    i0 = DRAW() & 3;
    do {
      visit(o + 1 * 32, shares);
      for (int i1 = 0, n = DRAW() & 3; i1 < n; ++i1) {
        visit(o + 2 * 32, shares);
        visit(o + 3 * 32, shares);
        visit(o + 4 * 32, shares);
      }
      visit(o + 5 * 32, shares);
    } while (--i0 > 0);
  }
  visit(o + 6 * 32, shares);
}

extern "C" __global__ void way19(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  if ((DRAW() & 1) == 1) {
    if ((DRAW() & 3) != 2) {
      if ((DRAW() & 7) == 4) {
        if ((DRAW() & 3) == 3) {
          if ((DRAW() & 3) == 1) {
            visit(o + 0 * 32, shares);
            visit(o + 1 * 32, shares);
          }
        }
        if ((DRAW() & 7) == 2) {
          visit(o + 2 * 32, shares);
        } else {
          visit(o + 3 * 32, shares);
        }
      } else {
        visit(o + 4 * 32, shares);
      }
      switch (DRAW() & 7) {
        case 0: visit(o + 5 * 32, shares);
        case 1: visit(o + 6 * 32, shares); break;
        case 2: visit(o + 7 * 32, shares); break;
        case 3: visit(o + 8 * 32, shares); break;
      }
    } else {
      visit(o + 9 * 32, shares);
    }
  } else {
    visit(o + 10 * 32, shares);
  }
  visit(o + 11 * 32, shares);
}

extern "C" __global__ void way20(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i1;
  if ((DRAW() & 3) != 1) {
    for (int i0 = 0, n = DRAW() & 3; i0 < n; ++i0) {
      visit(o + 0 * 32, shares);
      if ((DRAW() & 7) == 1) {
        visit(o + 1 * 32, shares);
        break;
      }
    }
    i1 = DRAW() & 7;
    while (i1-- > 0) {
      visit(o + 2 * 32, shares);
      for (int i2 = 0, n = DRAW() & 7; i2 < n; ++i2) {
        visit(o + 3 * 32, shares);
        visit(o + 4 * 32, shares);
      }
      for (int i3 = 0, n = DRAW() & 7; i3 < n; ++i3) {
        visit(o + 5 * 32, shares);
        if ((DRAW() & 1) != 1 && (DRAW() & 7) != 5) {
          visit(o + 6 * 32, shares);
          break;
        } else {
          switch (DRAW() & 7) {
            case 0: visit(o + 7 * 32, shares); break;
            case 1: visit(o + 8 * 32, shares); break;
            case 2: visit(o + 9 * 32, shares); break;
            case 3: visit(o + 10 * 32, shares); break;
          }
        }
        visit(o + 11 * 32, shares);
      }
    }
  } else {
    visit(o + 12 * 32, shares);
  }
  visit(o + 13 * 32, shares);
}

extern "C" __global__ void way21(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i0;
  visit(o + 0 * 32, shares);
  if ((DRAW() & 3) < 3) {
    visit(o + 1 * 32, shares);
  }
  i0 = DRAW() & 7;
  do {
    visit(o + 2 * 32, shares);
    for (int i1 = 0, n = DRAW() & 7; i1 < n; ++i1) {
      visit(o + 3 * 32, shares);
      for (int i2 = 0, n = DRAW() & 7; i2 < n; ++i2) {
        visit(o + 4 * 32, shares);
        visit(o + 5 * 32, shares);
        visit(o + 6 * 32, shares);
      }
      visit(o + 7 * 32, shares);
    }
  } while (--i0 > 0);
  visit(o + 8 * 32, shares);
}

extern "C" __global__ void way22(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i0;
  if ((DRAW() & 1) == 1) {
    visit(o + 0 * 32, shares);
  } else {
    i0 = DRAW() & 3;
    while (i0-- > 0) {
      visit(o + 1 * 32, shares);
      if ((DRAW() & 3) < 3) {
        visit(o + 2 * 32, shares);
        break;
      } else {
        visit(o + 3 * 32, shares);
        break;
      }
    }
  }
  visit(o + 4 * 32, shares);
  visit(o + 5 * 32, shares);
  if ((DRAW() & 7) == 3 || (DRAW() & 3) != 1) {
  } else {
  }
  if ((DRAW() & 3) < 3) {
    for (int i1 = 0, n = DRAW() & 3; i1 < n; ++i1) {
      visit(o + 6 * 32, shares);
      visit(o + 7 * 32, shares);
      for (int i2 = 0, n = DRAW() & 3; i2 < n; ++i2) {
        visit(o + 8 * 32, shares);
        if ((DRAW() & 1) == 1) {
          if ((DRAW() & 1) == 1 && (DRAW() & 3) < 0) {
            visit(o + 9 * 32, shares);
          } else {
            visit(o + 10 * 32, shares);
          }
        }
        visit(o + 11 * 32, shares);
      }
    }
  } else {
    visit(o + 12 * 32, shares);
  }
  visit(o + 13 * 32, shares);
}

extern "C" __global__ void way23(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i0;
  visit(o + 0 * 32, shares);
  if ((DRAW() & 1) != 1) {
    if ((DRAW() & 1) < 1 || (DRAW() & 3) != 2) {
      return;
    }
    visit(o + 1 * 32, shares);
    i0 = DRAW() & 7;
    while (i0-- > 0) {
      visit(o + 2 * 32, shares);
      switch (DRAW() & 7) {
        case 0: visit(o + 3 * 32, shares);
        case 1: visit(o + 4 * 32, shares); break;
        case 2: visit(o + 5 * 32, shares); break;
        case 3: visit(o + 6 * 32, shares); break;
        case 4: visit(o + 7 * 32, shares); break;
      }
      visit(o + 8 * 32, shares);
    }
  } else {
    return;
  }
  visit(o + 9 * 32, shares);
}

extern "C" __global__ void way24(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i0;
  int i3;
  visit(o + 0 * 32, shares);
  if ((DRAW() & 7) == 4 || (DRAW() & 7) != 1) {
    visit(o + 1 * 32, shares);
  } else {
    if ((DRAW() & 7) != 0 || (DRAW() & 3) == 3) {
      i0 = DRAW() & 7;
      while (i0-- > 0) {
        visit(o + 2 * 32, shares);
        if ((DRAW() & 3) != 3) {
          for (int i1 = 0, n = DRAW() & 7; i1 < n; ++i1) {
            visit(o + 3 * 32, shares);
            visit(o + 4 * 32, shares);
          }
          visit(o + 5 * 32, shares);
        }
        for (int i2 = 0, n = DRAW() & 3; i2 < n; ++i2) {
          visit(o + 6 * 32, shares);
          i3 = DRAW() & 7;
          while (i3-- > 0) {
            visit(o + 7 * 32, shares);
            visit(o + 8 * 32, shares);
            visit(o + 9 * 32, shares);
          }
          visit(o + 10 * 32, shares);
        }
        visit(o + 11 * 32, shares);
      }
    }
  }
  visit(o + 12 * 32, shares);
}

extern "C" __global__ void way25(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i1;
  int i2;
  for (int i0 = 0, n = DRAW() & 7; i0 < n; ++i0) {
    visit(o + 0 * 32, shares);
    if ((DRAW() & 7) < 7) {
      visit(o + 1 * 32, shares);
      return;
    } else {
      visit(o + 2 * 32, shares);
    }
  }
  if ((DRAW() & 3) == 3 && (DRAW() & 3) == 2) {
    visit(o + 3 * 32, shares);
    return;
  } else {
    i1 = DRAW() & 7;
    while (i1-- > 0) {
      visit(o + 4 * 32, shares);
      i2 = DRAW() & 7;
      while (i2-- > 0) {
        visit(o + 5 * 32, shares);
        for (int i3 = 0, n = DRAW() & 7; i3 < n; ++i3) {
          visit(o + 6 * 32, shares);
          if ((DRAW() & 7) < 0) {
            visit(o + 7 * 32, shares);
            continue;
          }
        }
        switch (DRAW() & 7) {
          case 0: visit(o + 8 * 32, shares); break;
          case 1: visit(o + 9 * 32, shares); break;
          default: visit(o + 10 * 32, shares); break;
        }
      }
    }
  }
  visit(o + 11 * 32, shares);
}

extern "C" __global__ void way26(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  if ((DRAW() & 7) != 0) {
    visit(o + 0 * 32, shares);
    visit(o + 1 * 32, shares);
  } else {
    for (int i0 = 0, n = DRAW() & 7; i0 < n; ++i0) {
      visit(o + 2 * 32, shares);
      visit(o + 3 * 32, shares);
    }
  }
  visit(o + 4 * 32, shares);
}

extern "C" __global__ void way27(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  visit(o + 0 * 32, shares);
  for (int i0 = 0, n = DRAW() & 7; i0 < n; ++i0) {
    visit(o + 1 * 32, shares);
    visit(o + 2 * 32, shares);
    visit(o + 3 * 32, shares);
  }
  visit(o + 4 * 32, shares);
  if ((DRAW() & 1) == 1) {
    visit(o + 5 * 32, shares);
    visit(o + 6 * 32, shares);
  }
  if ((DRAW() & 3) == 0 && (DRAW() & 3) != 0) {
    return;
  }
  for (int i1 = 0, n = DRAW() & 7; i1 < n; ++i1) {
    visit(o + 7 * 32, shares);
    visit(o + 8 * 32, shares);
  }
  visit(o + 9 * 32, shares);
}

extern "C" __global__ void way28(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i1;
  if ((DRAW() & 1) != 1 && (DRAW() & 3) != 3) {
    if ((DRAW() & 3) < 1) {
      if ((DRAW() & 3) < 1 || (DRAW() & 3) == 2) {
        for (int i0 = 0, n = DRAW() & 7; i0 < n; ++i0) {
          visit(o + 0 * 32, shares);
          if ((DRAW() & 3) == 3 && (DRAW() & 1) == 1) {
            break;
          }
          visit(o + 1 * 32, shares);
          visit(o + 2 * 32, shares);
        }
      }
    } else {
      visit(o + 3 * 32, shares);
    }
    i1 = DRAW() & 3;
    while (i1-- > 0) {
      visit(o + 4 * 32, shares);
      if ((DRAW() & 7) < 4) {
        visit(o + 5 * 32, shares);
        continue;
      }
      visit(o + 6 * 32, shares);
    }
  }
  visit(o + 7 * 32, shares);
}

extern "C" __global__ void way29(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i0;
  int i1;
  int i2;
  int i3;
  visit(o + 0 * 32, shares);
  visit(o + 1 * 32, shares);
  i0 = DRAW() & 3;
  while (i0-- > 0) {
    visit(o + 2 * 32, shares);
    i1 = DRAW() & 7;
    do {
      visit(o + 3 * 32, shares);
      i2 = DRAW() & 3;
      while (i2-- > 0) {
        visit(o + 4 * 32, shares);
        i3 = DRAW() & 7;
        while (i3-- > 0) {
          visit(o + 5 * 32, shares);
          if ((DRAW() & 7) == 3) {
            visit(o + 6 * 32, shares);
            visit(o + 7 * 32, shares);
          }
          if ((DRAW() & 1) == 1) {
            continue;
          }
        }
        for (int i4 = 0, n = DRAW() & 7; i4 < n; ++i4) {
          visit(o + 8 * 32, shares);
          switch (DRAW() & 7) {
            case 0: visit(o + 9 * 32, shares); break;
            case 1: visit(o + 10 * 32, shares); break;
            case 2: visit(o + 11 * 32, shares);
            case 3: visit(o + 12 * 32, shares); break;
          }
          visit(o + 13 * 32, shares);
        }
      }
      visit(o + 14 * 32, shares);
    } while (--i1 > 0);
    visit(o + 15 * 32, shares);
  }
  visit(o + 16 * 32, shares);
}

extern "C" __global__ void way30(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i0;
  int i1;
  if ((DRAW() & 3) == 1) {
    visit(o + 0 * 32, shares);
  }
  visit(o + 1 * 32, shares);
  visit(o + 2 * 32, shares);
  i0 = DRAW() & 7;
  do {
    visit(o + 3 * 32, shares);
    i1 = DRAW() & 3;
    while (i1-- > 0) {
      visit(o + 4 * 32, shares);
      switch (DRAW() & 7) {
        case 0: visit(o + 5 * 32, shares);
        case 1: visit(o + 6 * 32, shares); break;
        case 2: visit(o + 7 * 32, shares);
        case 3: visit(o + 8 * 32, shares);
      }
      visit(o + 9 * 32, shares);
    }
  } while (--i0 > 0);
  visit(o + 10 * 32, shares);
}

extern "C" __global__ void way31(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i1;
  if ((DRAW() & 7) < 1) {
  } else {
    visit(o + 0 * 32, shares);
    if ((DRAW() & 1) != 1) {
      visit(o + 1 * 32, shares);
    }
  }
  visit(o + 2 * 32, shares);
  if ((DRAW() & 3) < 3 || (DRAW() & 3) < 0) {
    for (int i0 = 0, n = DRAW() & 7; i0 < n; ++i0) {
      visit(o + 3 * 32, shares);
      i1 = DRAW() & 3;
      do {
        visit(o + 4 * 32, shares);
        if ((DRAW() & 1) == 1) {
          for (int i2 = 0, n = DRAW() & 7; i2 < n; ++i2) {
            visit(o + 5 * 32, shares);
            visit(o + 6 * 32, shares);
            visit(o + 7 * 32, shares);
          }
          if ((DRAW() & 1) == 1) {
            visit(o + 8 * 32, shares);
            visit(o + 9 * 32, shares);
          } else {
            visit(o + 10 * 32, shares);
            break;
          }
        } else {
          visit(o + 11 * 32, shares);
        }
      } while (--i1 > 0);
      visit(o + 12 * 32, shares);
    }
  }
  visit(o + 13 * 32, shares);
}

extern "C" __global__ void way32(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  switch (DRAW() & 7) {
    case 0: visit(o + 0 * 32, shares); break;
    case 1: visit(o + 1 * 32, shares); break;
    default: visit(o + 2 * 32, shares); break;
  }
  switch (DRAW() & 7) {
    case 0: visit(o + 3 * 32, shares); break;
    case 1: visit(o + 4 * 32, shares);
    case 2: visit(o + 5 * 32, shares);
    default: visit(o + 6 * 32, shares); break;
  }
  if ((DRAW() & 1) != 1) {
    if ((DRAW() & 3) < 3) {
      switch (DRAW() & 7) {
        case 0: visit(o + 7 * 32, shares); break;
        case 1: visit(o + 8 * 32, shares);
        case 2: visit(o + 9 * 32, shares);
        case 3: visit(o + 10 * 32, shares); break;
      }
    } else {
      visit(o + 11 * 32, shares);
    }
  }
  visit(o + 12 * 32, shares);
}

extern "C" __global__ void way33(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i0;
  int i1;
  if ((DRAW() & 3) != 2) {
    i0 = DRAW() & 3;
    while (i0-- > 0) {
      visit(o + 0 * 32, shares);
      {
        switch (DRAW() & 7) {
          case 0: visit(o + 1 * 32, shares); break;
          case 1: visit(o + 2 * 32, shares); break;
          case 2: visit(o + 3 * 32, shares); break;
          case 3: visit(o + 4 * 32, shares); break;
          default: visit(o + 5 * 32, shares); break;
        }
      }
    label0:;
      visit(o + 6 * 32, shares);
      i1 = DRAW() & 3;
      while (i1-- > 0) {
        visit(o + 7 * 32, shares);
        visit(o + 8 * 32, shares);
        visit(o + 9 * 32, shares);
      }
      visit(o + 10 * 32, shares);
    }
  }
  visit(o + 11 * 32, shares);
}

extern "C" __global__ void way34(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  {
    for (int i0 = 0, n = DRAW() & 7; i0 < n; ++i0) {
      visit(o + 0 * 32, shares);
      visit(o + 1 * 32, shares);
      {
        if ((DRAW() & 1) != 1 || (DRAW() & 1) < 1) {
          for (int i1 = 0, n = DRAW() & 3; i1 < n; ++i1) {
            visit(o + 2 * 32, shares);
            visit(o + 3 * 32, shares);
            visit(o + 4 * 32, shares);
          }
        }
      }
    label1:;
      visit(o + 5 * 32, shares);
    }
  }
label0:;
  visit(o + 6 * 32, shares);
  visit(o + 7 * 32, shares);
}

extern "C" __global__ void way35(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i0;
  int i1;
  i0 = DRAW() & 7;
  while (i0-- > 0) {
    visit(o + 0 * 32, shares);
    if ((DRAW() & 1) != 1) {
      visit(o + 1 * 32, shares);
      break;
    }
    visit(o + 2 * 32, shares);
    if ((DRAW() & 3) < 3 && (DRAW() & 7) == 5) {
      visit(o + 3 * 32, shares);
      return;
    } else {
      i1 = DRAW() & 7;
      do {
        visit(o + 4 * 32, shares);
        for (int i2 = 0, n = DRAW() & 3; i2 < n; ++i2) {
          visit(o + 5 * 32, shares);
          visit(o + 6 * 32, shares);
          visit(o + 7 * 32, shares);
        }
        visit(o + 8 * 32, shares);
      } while (--i1 > 0);
    }
  }
  visit(o + 9 * 32, shares);
}

extern "C" __global__ void way36(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i0;
  visit(o + 0 * 32, shares);
  if ((DRAW() & 1) < 1) {
    switch (DRAW() & 7) {
      case 0: visit(o + 1 * 32, shares); break;
      case 1: visit(o + 2 * 32, shares); break;
      case 2: visit(o + 3 * 32, shares); break;
    }
    visit(o + 4 * 32, shares);
  } else {
    if ((DRAW() & 7) != 7) {
      if ((DRAW() & 1) == 1) {
        visit(o + 5 * 32, shares);
      } else {
        visit(o + 6 * 32, shares);
      }
      i0 = DRAW() & 3;
      do {
        visit(o + 7 * 32, shares);
        visit(o + 8 * 32, shares);
      } while (--i0 > 0);
    }
  }
  visit(o + 9 * 32, shares);
}

extern "C" __global__ void way37(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i2;
  for (int i0 = 0, n = DRAW() & 3; i0 < n; ++i0) {
    visit(o + 0 * 32, shares);
    if ((DRAW() & 1) != 1) {
      visit(o + 1 * 32, shares);
      break;
    }
    visit(o + 2 * 32, shares);
  }
  for (int i1 = 0, n = DRAW() & 7; i1 < n; ++i1) {
    visit(o + 3 * 32, shares);
    i2 = DRAW() & 3;
    while (i2-- > 0) {
      visit(o + 4 * 32, shares);
      for (int i3 = 0, n = DRAW() & 3; i3 < n; ++i3) {
        visit(o + 5 * 32, shares);
        visit(o + 6 * 32, shares);
        visit(o + 7 * 32, shares);
        visit(o + 8 * 32, shares);
      }
    }
  }
  visit(o + 9 * 32, shares);
}

extern "C" __global__ void way38(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i0;
  if ((DRAW() & 3) < 1) {
    visit(o + 0 * 32, shares);
  }
  if ((DRAW() & 3) != 2) {
    if ((DRAW() & 3) != 0) {
      visit(o + 1 * 32, shares);
    } else {
    }
  }
  i0 = DRAW() & 3;
  do {
    visit(o + 2 * 32, shares);
    if ((DRAW() & 1) == 1) {
      break;
    } else {
      if ((DRAW() & 3) < 3) {
        for (int i1 = 0, n = DRAW() & 7; i1 < n; ++i1) {
          visit(o + 3 * 32, shares);
          for (int i2 = 0, n = DRAW() & 7; i2 < n; ++i2) {
            visit(o + 4 * 32, shares);
            visit(o + 5 * 32, shares);
            visit(o + 6 * 32, shares);
          }
        }
      }
    }
  } while (--i0 > 0);
  visit(o + 7 * 32, shares);
}

extern "C" __global__ void way39(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  switch (DRAW() & 7) {
    case 0: visit(o + 0 * 32, shares);
    case 1: visit(o + 1 * 32, shares);
    default: visit(o + 2 * 32, shares); break;
  }
  if ((DRAW() & 1) != 1 || (DRAW() & 1) < 1) {
  } else {
    visit(o + 3 * 32, shares);
  }
  visit(o + 4 * 32, shares);
}

extern "C" __global__ void way40(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i0;
  int i1;
  i0 = DRAW() & 7;
  do {
    visit(o + 0 * 32, shares);
    if ((DRAW() & 1) < 1) {
      i1 = DRAW() & 7;
      do {
        visit(o + 1 * 32, shares);
        visit(o + 2 * 32, shares);
      } while (--i1 > 0);
      if ((DRAW() & 1) != 1) {
        visit(o + 3 * 32, shares);
        break;
      }
      for (int i2 = 0, n = DRAW() & 7; i2 < n; ++i2) {
        visit(o + 4 * 32, shares);
        visit(o + 5 * 32, shares);
        for (int i3 = 0, n = DRAW() & 7; i3 < n; ++i3) {
          visit(o + 6 * 32, shares);
          if ((DRAW() & 1) != 1) {
            continue;
          } else {
            visit(o + 7 * 32, shares);
          }
          for (int i4 = 0, n = DRAW() & 3; i4 < n; ++i4) {
            visit(o + 8 * 32, shares);
            visit(o + 9 * 32, shares);
            visit(o + 10 * 32, shares);
          }
          visit(o + 11 * 32, shares);
        }
        visit(o + 12 * 32, shares);
      }
    }
  } while (--i0 > 0);
  visit(o + 13 * 32, shares);
}

extern "C" __global__ void way41(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  visit(o + 0 * 32, shares);
  visit(o + 1 * 32, shares);
  for (int i0 = 0, n = DRAW() & 3; i0 < n; ++i0) {
    visit(o + 2 * 32, shares);
    {
      if ((DRAW() & 3) != 0 || (DRAW() & 1) == 1) {
        visit(o + 3 * 32, shares);
        goto label0;
      } else {
        visit(o + 4 * 32, shares);
        break;
      }
    }
  label0:;
    visit(o + 5 * 32, shares);
  }
  visit(o + 6 * 32, shares);
}

extern "C" __global__ void way42(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  visit(o + 0 * 32, shares);
  if ((DRAW() & 3) == 1) {
    if ((DRAW() & 1) != 1 && (DRAW() & 1) < 1) {
      visit(o + 1 * 32, shares);
      return;
    }
    visit(o + 2 * 32, shares);
  } else {
    visit(o + 3 * 32, shares);
  }
  visit(o + 4 * 32, shares);
}

extern "C" __global__ void way43(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i0;
  if ((DRAW() & 3) == 2 || (DRAW() & 1) == 1) {
    switch (DRAW() & 7) {
      case 0: visit(o + 0 * 32, shares);
      case 1: visit(o + 1 * 32, shares); break;
      case 2: visit(o + 2 * 32, shares); break;
      case 3: visit(o + 3 * 32, shares); break;
      default: visit(o + 4 * 32, shares); break;
    }
  }
  visit(o + 5 * 32, shares);
  i0 = DRAW() & 7;
  do {
    visit(o + 6 * 32, shares);
    switch (DRAW() & 7) {
      case 0: visit(o + 7 * 32, shares); break;
      case 1: visit(o + 8 * 32, shares); break;
      case 2: visit(o + 9 * 32, shares);
      default: visit(o + 10 * 32, shares); break;
    }
  } while (--i0 > 0);
  visit(o + 11 * 32, shares);
}

extern "C" __global__ void way44(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i0;
  visit(o + 0 * 32, shares);
  visit(o + 1 * 32, shares);
  i0 = DRAW() & 3;
  while (i0-- > 0) {
    visit(o + 2 * 32, shares);
    visit(o + 3 * 32, shares);
  }
  switch (DRAW() & 7) {
    case 0: visit(o + 4 * 32, shares); break;
    case 1: visit(o + 5 * 32, shares); break;
    case 2: visit(o + 6 * 32, shares);
    default: visit(o + 7 * 32, shares); break;
  }
  if ((DRAW() & 7) < 2) {
    if ((DRAW() & 1) != 1) {
      visit(o + 8 * 32, shares);
      return;
    }
  }
  if ((DRAW() & 3) == 0 || (DRAW() & 7) < 5) {
    visit(o + 9 * 32, shares);
    return;
  } else {
    visit(o + 10 * 32, shares);
    return;
  }
  visit(o + 11 * 32, shares);
}

extern "C" __global__ void way45(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  for (int i0 = 0, n = DRAW() & 7; i0 < n; ++i0) {
    visit(o + 0 * 32, shares);
    visit(o + 1 * 32, shares);
    visit(o + 2 * 32, shares);
    visit(o + 3 * 32, shares);
    visit(o + 4 * 32, shares);
  }
  visit(o + 5 * 32, shares);
}

extern "C" __global__ void way46(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  if ((DRAW() & 1) != 1 && (DRAW() & 3) != 3) {
    visit(o + 0 * 32, shares);
    return;
  }
  if ((DRAW() & 7) == 2) {
    visit(o + 1 * 32, shares);
    for (int i0 = 0, n = DRAW() & 3; i0 < n; ++i0) {
      visit(o + 2 * 32, shares);
      if ((DRAW() & 1) != 1) {
        visit(o + 3 * 32, shares);
      }
      visit(o + 4 * 32, shares);
    }
  } else {
    visit(o + 5 * 32, shares);
    return;
  }
  visit(o + 6 * 32, shares);
}

extern "C" __global__ void way47(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i1;
  for (int i0 = 0, n = DRAW() & 3; i0 < n; ++i0) {
    visit(o + 0 * 32, shares);
    visit(o + 1 * 32, shares);
  }
  if ((DRAW() & 7) == 7) {
    i1 = DRAW() & 3;
    do {
      visit(o + 2 * 32, shares);
      for (int i2 = 0, n = DRAW() & 3; i2 < n; ++i2) {
        visit(o + 3 * 32, shares);
        visit(o + 4 * 32, shares);
      }
    } while (--i1 > 0);
  }
  visit(o + 5 * 32, shares);
}

extern "C" __global__ void way48(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i1;
  for (int i0 = 0, n = DRAW() & 7; i0 < n; ++i0) {
    visit(o + 0 * 32, shares);
    visit(o + 1 * 32, shares);
    i1 = DRAW() & 7;
    while (i1-- > 0) {
      visit(o + 2 * 32, shares);
      for (int i2 = 0, n = DRAW() & 7; i2 < n; ++i2) {
        visit(o + 3 * 32, shares);
        for (int i3 = 0, n = DRAW() & 7; i3 < n; ++i3) {
          visit(o + 4 * 32, shares);
          if ((DRAW() & 3) == 1) {
            visit(o + 5 * 32, shares);
          }
        }
      }
    }
  }
  visit(o + 6 * 32, shares);
}

extern "C" __global__ void way49(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i0;
  int i1;
  i0 = DRAW() & 7;
  while (i0-- > 0) {
    visit(o + 0 * 32, shares);
    if ((DRAW() & 1) == 1) {
      if ((DRAW() & 3) == 1) {
        i1 = DRAW() & 3;
        while (i1-- > 0) {
          visit(o + 1 * 32, shares);
          switch (DRAW() & 7) {
            case 0: visit(o + 2 * 32, shares); break;
            case 1: visit(o + 3 * 32, shares); break;
            case 2: visit(o + 4 * 32, shares);
            case 3: visit(o + 5 * 32, shares);
            default: visit(o + 6 * 32, shares);
          }
          visit(o + 7 * 32, shares);
        }
        if ((DRAW() & 1) == 1) {
          if ((DRAW() & 1) == 1 && (DRAW() & 3) == 2) {
            visit(o + 8 * 32, shares);
          }
          visit(o + 9 * 32, shares);
        }
      } else {
        visit(o + 10 * 32, shares);
        continue;
      }
    } else {
      continue;
    }
  }
  visit(o + 11 * 32, shares);
}

extern "C" __global__ void way50(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i0;
  int i2;
  i0 = DRAW() & 3;
  while (i0-- > 0) {
    visit(o + 0 * 32, shares);
    for (int i1 = 0, n = DRAW() & 7; i1 < n; ++i1) {
      visit(o + 1 * 32, shares);
      if ((DRAW() & 3) == 0) {
        visit(o + 2 * 32, shares);
        continue;
      } else {
        i2 = DRAW() & 7;
        while (i2-- > 0) {
          visit(o + 3 * 32, shares);
          visit(o + 4 * 32, shares);
          visit(o + 5 * 32, shares);
        }
      }
      visit(o + 6 * 32, shares);
    }
  }
  visit(o + 7 * 32, shares);
}

extern "C" __global__ void way51(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  if ((DRAW() & 1) < 1) {
    visit(o + 0 * 32, shares);
  }
  if ((DRAW() & 1) != 1) {
    switch (DRAW() & 7) {
      case 0: visit(o + 1 * 32, shares); break;
      case 1: visit(o + 2 * 32, shares);
      case 2: visit(o + 3 * 32, shares); break;
      default: visit(o + 4 * 32, shares); break;
    }
  }
  visit(o + 5 * 32, shares);
}

extern "C" __global__ void way52(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i0;
  int i1;
  int i3;
  if ((DRAW() & 3) != 2 && (DRAW() & 1) < 1) {
    i0 = DRAW() & 3;
    while (i0-- > 0) {
      visit(o + 0 * 32, shares);
      if ((DRAW() & 3) != 3) {
        visit(o + 1 * 32, shares);
        if ((DRAW() & 7) != 6) {
          continue;
        }
        if ((DRAW() & 1) < 1 && (DRAW() & 1) == 1) {
          visit(o + 2 * 32, shares);
        } else {
          visit(o + 3 * 32, shares);
        }
      }
      i1 = DRAW() & 7;
      while (i1-- > 0) {
        visit(o + 4 * 32, shares);
        for (int i2 = 0, n = DRAW() & 3; i2 < n; ++i2) {
          visit(o + 5 * 32, shares);
          i3 = DRAW() & 3;
          while (i3-- > 0) {
            visit(o + 6 * 32, shares);
            visit(o + 7 * 32, shares);
          }
          visit(o + 8 * 32, shares);
        }
        visit(o + 9 * 32, shares);
      }
    }
  } else {
    visit(o + 10 * 32, shares);
  }
  visit(o + 11 * 32, shares);
}

extern "C" __global__ void way53(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i0;
  int i1;
  if ((DRAW() & 1) < 1) {
    visit(o + 0 * 32, shares);
    i0 = DRAW() & 7;
    while (i0-- > 0) {
      visit(o + 1 * 32, shares);
      visit(o + 2 * 32, shares);
      i1 = DRAW() & 3;
      while (i1-- > 0) {
        visit(o + 3 * 32, shares);
        switch (DRAW() & 7) {
          case 0: visit(o + 4 * 32, shares);
          case 1: visit(o + 5 * 32, shares);
          case 2: visit(o + 6 * 32, shares);
          case 3: visit(o + 7 * 32, shares); break;
          default: visit(o + 8 * 32, shares); break;
        }
        visit(o + 9 * 32, shares);
      }
    }
  }
  visit(o + 10 * 32, shares);
}

extern "C" __global__ void way54(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  for (int i0 = 0, n = DRAW() & 3; i0 < n; ++i0) {
    visit(o + 0 * 32, shares);
    visit(o + 1 * 32, shares);
    visit(o + 2 * 32, shares);
  }
  if ((DRAW() & 1) == 1 || (DRAW() & 1) == 1) {
    visit(o + 3 * 32, shares);
  }
  if ((DRAW() & 3) == 2) {
    for (int i1 = 0, n = DRAW() & 7; i1 < n; ++i1) {
      visit(o + 4 * 32, shares);
      if ((DRAW() & 1) != 1) {
        visit(o + 5 * 32, shares);
      } else {
        if ((DRAW() & 3) < 1) {
          visit(o + 6 * 32, shares);
          continue;
        } else {
          visit(o + 7 * 32, shares);
          continue;
        }
      }
      if ((DRAW() & 7) == 7) {
        if ((DRAW() & 1) < 1) {
          visit(o + 8 * 32, shares);
          continue;
        }
      }
      if ((DRAW() & 1) == 1) {
        visit(o + 9 * 32, shares);
      } else {
        visit(o + 10 * 32, shares);
      }
      visit(o + 11 * 32, shares);
    }
  }
  visit(o + 12 * 32, shares);
}

extern "C" __global__ void way55(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i0;
  int i1;
  visit(o + 0 * 32, shares);
  if ((DRAW() & 3) == 3 || (DRAW() & 3) < 0) {
    i0 = DRAW() & 3;
    do {
      visit(o + 1 * 32, shares);
      i1 = DRAW() & 7;
      while (i1-- > 0) {
        visit(o + 2 * 32, shares);
        for (int i2 = 0, n = DRAW() & 7; i2 < n; ++i2) {
          visit(o + 3 * 32, shares);
          visit(o + 4 * 32, shares);
          visit(o + 5 * 32, shares);
        }
        visit(o + 6 * 32, shares);
      }
      visit(o + 7 * 32, shares);
    } while (--i0 > 0);
  }
  visit(o + 8 * 32, shares);
}

extern "C" __global__ void way56(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i0;
  int i1;
  int i3;
  i0 = DRAW() & 3;
  while (i0-- > 0) {
    visit(o + 0 * 32, shares);
    if ((DRAW() & 1) != 1 && (DRAW() & 3) == 2) {
      visit(o + 1 * 32, shares);
      break;
    } else {
      break;
    }
    visit(o + 2 * 32, shares);
  }
  if ((DRAW() & 1) == 1) {
    visit(o + 3 * 32, shares);
  } else {
    i1 = DRAW() & 7;
    while (i1-- > 0) {
      visit(o + 4 * 32, shares);
      for (int i2 = 0, n = DRAW() & 3; i2 < n; ++i2) {
        visit(o + 5 * 32, shares);
        i3 = DRAW() & 3;
        while (i3-- > 0) {
          visit(o + 6 * 32, shares);
          for (int i4 = 0, n = DRAW() & 7; i4 < n; ++i4) {
            visit(o + 7 * 32, shares);
            visit(o + 8 * 32, shares);
            visit(o + 9 * 32, shares);
          }
        }
      }
      visit(o + 10 * 32, shares);
    }
  }
  visit(o + 11 * 32, shares);
}

extern "C" __global__ void way57(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  int i1;
  if ((DRAW() & 1) == 1 || (DRAW() & 7) != 6) {
    if ((DRAW() & 3) < 0) {
      for (int i0 = 0, n = DRAW() & 7; i0 < n; ++i0) {
        visit(o + 0 * 32, shares);
        visit(o + 1 * 32, shares);
      }
      if ((DRAW() & 1) != 1 || (DRAW() & 3) < 0) {
        visit(o + 2 * 32, shares);
      } else {
        i1 = DRAW() & 3;
        while (i1-- > 0) {
          visit(o + 3 * 32, shares);
          visit(o + 4 * 32, shares);
          if ((DRAW() & 7) == 1) {
            visit(o + 5 * 32, shares);
            continue;
          }
        }
      }
    } else {
      visit(o + 6 * 32, shares);
    }
  }
  visit(o + 7 * 32, shares);
}

extern "C" __global__ void way58(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  switch (DRAW() & 7) {
    case 0: visit(o + 0 * 32, shares); break;
    case 1: visit(o + 1 * 32, shares);
    case 2: visit(o + 2 * 32, shares); break;
    case 3: visit(o + 3 * 32, shares);
    case 4: visit(o + 4 * 32, shares);
  }
  visit(o + 5 * 32, shares);
}

extern "C" __global__ void way59(const unsigned* in, volatile unsigned long long* o,
                                 const volatile unsigned long long* shares) {
  unsigned r = in[threadIdx.x];
  o += threadIdx.x;
  visit(o + 0 * 32, shares);
  if ((DRAW() & 1) == 1 || (DRAW() & 1) < 1) {
    if ((DRAW() & 1) < 1) {
      return;
    }
    for (int i0 = 0, n = DRAW() & 3; i0 < n; ++i0) {
      visit(o + 1 * 32, shares);
      for (int i1 = 0, n = DRAW() & 3; i1 < n; ++i1) {
        visit(o + 2 * 32, shares);
        if ((DRAW() & 7) == 1) {
          break;
        } else {
          break;
        }
      }
    }
  }
  if ((DRAW() & 7) != 6) {
    for (int i2 = 0, n = DRAW() & 3; i2 < n; ++i2) {
      visit(o + 3 * 32, shares);
      visit(o + 4 * 32, shares);
      visit(o + 5 * 32, shares);
    }
  } else {
    visit(o + 6 * 32, shares);
  }
  visit(o + 7 * 32, shares);
}
