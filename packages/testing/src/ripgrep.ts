// Finds ripgrep, which searches are compared with. It is a part of the machine, not of the repository: BATON_RIPGREP names
// it, or it is on the PATH. Without it those tests are left out, loudly.
import { findProgram } from './program.ts'

/**
 * The path of an executable ripgrep; undefined when there is none: then `warn` is told what will not be tested.
 * @throws Error where BATON_RIPGREP names no executable file, and where there is none but BATON_TEST_REQUIRE is `all`
 */
export function findRipgrep(what: string, warn: (message: string) => void): string | undefined {
  return findProgram(what, { title: 'ripgrep', variable: 'BATON_RIPGREP', names: ['rg'] }, warn)
}
