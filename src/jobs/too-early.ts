/**
 * What a handler returns whose job came before its time and has put it off: nothing was tried, so the rounds that failed
 * before are not forgotten (decision 047).
 */
export const tooEarly = Symbol('too early');
