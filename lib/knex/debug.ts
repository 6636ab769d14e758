import createDebug from 'debug';

/** `DEBUG=rwsplit:route`: where each statement goes, and why. */
export const debugRoute: createDebug.Debugger = createDebug('rwsplit:route');

/** `DEBUG=rwsplit:misroute`: what a replica refused and the primary ran. */
export const debugMisroute: createDebug.Debugger = createDebug('rwsplit:misroute');

/** `DEBUG=rwsplit:host`: roles that differ from what was known. */
export const debugHost: createDebug.Debugger = createDebug('rwsplit:host');

/** `DEBUG=rwsplit:retry`: statements that run again on another host. */
export const debugRetry: createDebug.Debugger = createDebug('rwsplit:retry');

/** `DEBUG=rwsplit:prepare`: hosts that keep no statements prepared by name. */
export const debugPrepare: createDebug.Debugger = createDebug('rwsplit:prepare');
