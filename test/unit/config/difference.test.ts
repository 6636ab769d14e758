import { describe, expect, it } from '@jest/globals';
import { hideValue } from '../../../lib/config/connection-object.ts';
import { differenceOf } from '../../../lib/config/difference.ts';
import { madeOf } from '../../../lib/config/function-sources.ts';
import { TlsSettings } from '../../../lib/config/tls-settings.ts';

function nothing(): void {}
function nothingElse(): void {}

const withPassword = (password: unknown): object => hideValue({ host: 'h1' }, 'password', password);
const made = (...of: unknown[]): (() => void) => madeOf(() => undefined, ...of);
class Box {
  readonly value = 1;
}
const circle: Record<string, unknown> = {};
circle['self'] = circle;
const otherCircle: Record<string, unknown> = {};
otherCircle['self'] = otherCircle;

describe('differenceOf', () => {
  it.each<[string, unknown, unknown]>([
    ['equal texts', 'a', 'a'],
    ['NaN', Number.NaN, Number.NaN],
    ['lists', [1, [2]], [1, [2]]],
    ['objects in another order', { a: 1, b: { c: 2 } }, { b: { c: 2 }, a: 1 }],
    ['what is undefined and what is absent', { a: 1, b: undefined }, { a: 1 }],
    ['hidden members', withPassword('p'), withPassword('p')],
    ['buffers', Buffer.from('ab'), Buffer.from('ab')],
    ['TLS settings', new TlsSettings({ key: 'k' }), new TlsSettings({ key: 'k' })],
    ['one function', nothing, nothing],
    ['functions of ours made of the same', made(nothing, { a: 1 }), made(nothing, { a: 1 })],
    ['functions made of those', made(made(nothing)), made(made(nothing))],
  ])('is undefined for %s', (_, one, other) => {
    expect(differenceOf(one, other, 'x')).toBeUndefined();
    expect(differenceOf(other, one, 'x')).toBeUndefined();
  });

  it.each<[string, unknown, unknown, string]>([
    ['texts', 'a', 'b', 'x'],
    ['a text and nothing', 'a', undefined, 'x'],
    ['null and nothing', null, undefined, 'x'],
    ['a member', { a: { b: 1 } }, { a: { b: 2 } }, 'x.a.b'],
    ['one more member', { a: 1 }, { a: 1, b: 2 }, 'x.b'],
    ['an item', [1, 2], [1, 3], 'x[1]'],
    ['a list and an object', [], {}, 'x'],
    ['a hidden password', withPassword('p'), withPassword('q'), 'x.password'],
    ['a hidden key', new TlsSettings({ key: 'k' }), new TlsSettings({ key: 'l' }), 'x.key'],
    ['TLS settings and an object', new TlsSettings({ ca: 'c' }), { ca: 'd' }, 'x.ca'],
    ['buffers', Buffer.from('ab'), Buffer.from('ac'), 'x'],
    ['objects of a class', new Box(), new Box(), 'x'],
    ['functions', nothing, nothingElse, 'x'],
    ['a function of ours and another', made(nothing), nothing, 'x'],
    ['functions made of others', made(nothing), made(nothingElse), 'x'],
    ['what goes in a circle', circle, otherCircle, `x${'.self'.repeat(8)}`],
  ])('says where it is for %s', (_, one, other, where) => {
    expect(differenceOf(one, other, 'x')).toBe(where);
    expect(differenceOf(other, one, 'x')).toBe(where);
  });
});
