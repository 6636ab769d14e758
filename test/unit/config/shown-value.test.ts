import { describe, expect, it } from '@jest/globals';
import { maskUrl, showKind, showValue } from '../../../lib/config/shown-value.ts';

describe('showValue', () => {
  it.each([
    ['split', '"split"'],
    ['x'.repeat(80), `"${'x'.repeat(60)}…"`],
    [3, '3'],
    [Number.NaN, 'NaN'],
    [12n, '12'],
    [null, 'null'],
    [undefined, 'undefined'],
    [{ password: 'hunter2' }, 'an object'],
    [['hunter2'], 'a list'],
    [() => 'hunter2', 'a function'],
    [Symbol('hunter2'), 'a symbol'],
    ['host=h1 password=hunter2', 'a string'],
    ['app:hunter2@h1', 'a string'],
    ['postgres://app:hunter2@h1/db', '"postgres://…@h1/db"'],
  ])('writes %p as %s', (value, shown) => {
    expect(showValue(value)).toBe(shown);
  });
});

describe('showKind', () => {
  it.each([
    ['hunter2', 'a string'],
    ['', 'an empty string'],
    [12_345, 'a number'],
    [true, 'a boolean'],
    [null, 'null'],
    [{ a: 'hunter2' }, 'an object'],
    [['hunter2'], 'a list'],
  ])('writes %p as %s', (value, shown) => {
    expect(showKind(value)).toBe(shown);
  });
});

describe('maskUrl', () => {
  it.each([
    ['postgres://h1:5432,h2/db', 'postgres://h1:5432,h2/db'],
    ['postgres://app:hunter2@h1:1,h2/db', 'postgres://…@h1:1,h2/db'],
    ['postgres://app:hunt@er2@h1/db', 'postgres://…@h1/db'],
    ['postgres://h1/db?password=hunter2', 'postgres://h1/db'],
    ['postgres://app:hun/ter2@h1/db', 'postgres://…'],
    ['postgres://app:hun?ter2@h1/db', 'postgres://…'],
    ['postgres://app:hun#ter2@h1/db', 'postgres://…'],
    ['postgres://h1/db?password=hun@ter2', 'postgres://…'],
  ])('writes %s as %s', (url, masked) => {
    expect(maskUrl(url)).toBe(masked);
  });
});
