// Reports at the end of `npm test` what only the deep run tests.
import type { TestProject } from 'vitest/node'

export default function tellDepth(project: TestProject): () => void {
  return () => {
    if (project.config.env['BATON_TEST_DEPTH'] === 'deep') return
    console.warn(
      'LEFT OUT: most seeds and kill moments, the hand-offs between all providers, the terminal, shell commands, `baton serve` and editors as processes, damaged and full files, MCP servers as processes, four fifths of the programs of the pages, browsers, PostgreSQL, a proxy of ' +
        'others and local models. `npm run landing` runs what a change asks for, `npm run nightly` everything.',
    )
  }
}
