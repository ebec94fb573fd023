// Finds ripgrep, which searches are compared with. It belongs to the machine, not the repository: BATON_RIPGREP names
// it, or it is on the PATH. Without it, those tests are skipped with a warning.
import { findProgram } from './program.ts'

/**
 * Returns the path of an executable ripgrep, or `undefined` if there is none; `warn` then receives what will not be
 * tested.
 * @throws Error if BATON_RIPGREP does not name an executable file, or if there is none and BATON_TEST_REQUIRE is `all`
 */
export function findRipgrep(what: string, warn: (message: string) => void): string | undefined {
  return findProgram(what, { title: 'ripgrep', variable: 'BATON_RIPGREP', names: ['rg'] }, warn)
}
