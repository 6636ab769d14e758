import type { RWSplitSettings } from '../config/settings.ts';

/** Whether statements of a client wait while there is no primary. */
export function needsPrimary({ target }: Pick<RWSplitSettings, 'target'>): boolean {
  return target !== 'replica' && target !== 'any';
}
