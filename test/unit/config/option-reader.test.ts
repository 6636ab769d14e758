import { describe, expect, it } from '@jest/globals';
import { weightRange } from '../../../lib/config/number-range.ts';
import { OptionReader } from '../../../lib/config/option-reader.ts';
import { ConfigError } from '../../../lib/errors.ts';

describe('OptionReader', () => {
  it('gives what is written, and else the fallback', () => {
    const reader = new OptionReader({ weight: 2, mode: 'b', on: true, name: 'x' }, 'at');

    expect(reader.number('weight', 1, weightRange)).toBe(2);
    expect(reader.number('share', 1, weightRange)).toBe(1);
    expect(reader.choice('mode', 'a', ['a', 'b'])).toBe('b');
    expect(reader.choice('form', 'a', ['a', 'b'])).toBe('a');
    expect(reader.boolean('on', false)).toBe(true);
    expect(reader.text('name')).toBe('x');
    expect(reader.text('title')).toBeUndefined();
  });

  it('takes undefined for an option that is not given', () => {
    const reader = new OptionReader({ weight: undefined, other: undefined }, 'at');

    expect(reader.number('weight', 1, weightRange)).toBe(1);
    expect(() => new OptionReader(undefined, 'at').finish()).not.toThrow();
  });

  it('copies and freezes lists', () => {
    const tags = ['a'];

    const read = new OptionReader({ tags }, 'at').texts('tags');

    expect(read).toEqual(tags);
    expect(read).not.toBe(tags);
    expect(Object.isFrozen(read)).toBe(true);
    expect(Object.isFrozen(tags)).toBe(false);
  });

  it('reads groups under their own path', () => {
    const group = new OptionReader({ token: { age: 'x' } }, 'at').group('token');

    expect(() => group.number('age', 1, weightRange)).toThrow(/^at\.token\.age is "x"/);
  });

  it('names the nearest option where one is unknown', () => {
    const reader = new OptionReader({ weigth: 1 }, 'at');
    reader.number('weight', 1, weightRange);
    reader.texts('tags');

    expect(() => reader.finish()).toThrow(
      new ConfigError('', 'at.weigth is no option; the nearest known one is "weight".'),
    );
  });

  it.each<[string, unknown]>([
    ['a list', []],
    ['null', null],
    ['a text', 'x'],
    ['a date', new Date(0)],
    ['a function', () => ({})],
  ])('takes no options from %s', (_, value) => {
    expect(() => new OptionReader(value, 'at')).toThrow('at is ');
  });

  it.each<[string, unknown]>([
    ['a string', 'hunter2'],
    ['a number', 12_345],
  ])('repeats nothing of %s, which may be a secret', (kind, value) => {
    expect(() => new OptionReader(value, 'at')).toThrow(
      new ConfigError('', `at is ${kind}; it must be an object of options.`),
    );
  });

  it.each<[string, (reader: OptionReader) => unknown]>([
    ['a text for a number', (reader) => reader.number('text', 1, weightRange)],
    ['null for a number', (reader) => reader.number('nothing', 1, weightRange)],
    ['a number for a text', (reader) => reader.text('number')],
    ['an empty text', (reader) => reader.text('empty')],
    ['a text for a list', (reader) => reader.texts('text')],
    ['a list with an empty text', (reader) => reader.texts('list')],
    ['a number for a boolean', (reader) => reader.boolean('number', true)],
    ['an unknown choice', (reader) => reader.choice('text', 'a', ['a', 'b'])],
  ])('refuses %s', (_, read) => {
    const values = { text: '1', number: 1, empty: '', nothing: null, list: ['a', ''] };

    expect(() => read(new OptionReader(values, 'at'))).toThrow(ConfigError);
  });
});
