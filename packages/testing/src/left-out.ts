// Tests that need what a machine may lack (recordings of others, a browser) are left out loudly, and never where everything
// is required.

/**
 * Tells that `what` is not tested for want of something; `remedy` says how to get it.
 * @throws Error instead where BATON_TEST_REQUIRE is `all`: there nothing may be left out
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
