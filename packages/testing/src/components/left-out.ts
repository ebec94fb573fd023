// Skips tests that need something a machine may lack (third-party recordings, a browser), with a warning, unless
// everything is required.

/**
 * Warns that `what` is not tested because something is missing; `remedy` says how to get it.
 * @throws Error instead if BATON_TEST_REQUIRE is `all`, where nothing may be skipped
 */
export function leaveOut(
  what: string,
  lack: { readonly why: string; readonly remedy: string },
  warn: (message: string) => void,
): undefined {
  if (process.env['BATON_TEST_REQUIRE'] === 'all') throw new Error(`${what}: ${lack.why}`)
  warn(`SKIPPED: ${what}. ${lack.remedy}`)
  return undefined
}
