// Finds the local model for tests: BATON_GGUF names a file, and the package node-llama-cpp is installed. Without them,
// those tests are skipped with a warning.
import { accessSync } from 'node:fs'
import { leaveOut } from './left-out.ts'

/**
 * Returns the path of the model, or `undefined` if there is none; `warn` then receives what will not be tested.
 * @throws Error if BATON_GGUF does not name a file, or if there is none and BATON_TEST_REQUIRE is `all`
 */
export function findGguf(what: string, warn: (message: string) => void): string | undefined {
  const named = process.env['BATON_GGUF'] ?? ''
  const remedy = 'Run npm install --no-save node-llama-cpp, and set BATON_GGUF to the path of a small GGUF file.'
  if (named === '') return leaveOut(what, { why: 'BATON_GGUF names no model', remedy }, warn)
  accessSync(named)
  try {
    import.meta.resolve('node-llama-cpp')
    return named
  } catch {
    return leaveOut(what, { why: 'node-llama-cpp is not installed', remedy }, warn)
  }
}
