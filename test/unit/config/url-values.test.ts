import { describe, expect, it } from '@jest/globals';
import { typeUrlValues } from '../../../lib/config/url-values.ts';

describe('typeUrlValues', () => {
  it('makes numbers and booleans of the settings that are such', () => {
    const values = {
      query_timeout: '5',
      keepAlive: 'false',
      application_name: '7',
      database: 'true',
    };

    expect(typeUrlValues(values)).toEqual({ ...values, query_timeout: 5, keepAlive: false });
  });

  it.each([
    ['3', 3000],
    ['0', undefined],
    ['x', undefined],
    [undefined, undefined],
  ])('takes connect_timeout=%s for %p milliseconds', (written, millis) => {
    expect(typeUrlValues({ connect_timeout: written })['connectionTimeoutMillis']).toBe(millis);
  });

  it('prefers the name that pg has for it', () => {
    const values = { connect_timeout: '3', connectionTimeoutMillis: '10' };

    expect(typeUrlValues(values)['connectionTimeoutMillis']).toBe(10);
  });
});
