// Reports at the end of `npm test` what only longer runs test.
import type { TestProject } from 'vitest/node'

export default function tellDepth(project: TestProject): () => void {
  return () => {
    if (project.config.env['BATON_TEST_DEPTH'] === 'deep') return
    console.warn(
      'LEFT OUT: real processes (commands, kills, MCP servers, programs of the pages), most seeds, tests of the sources’ text, hand-offs ' +
        'between all providers, terminals, editors, damaged and full files, browsers, PostgreSQL, Temporal, a proxy of others and local ' +
        'models. `npx vitest run --mode landing` adds the first three, `npm run landing` what a change asks for, `npm run nightly` everything.',
    )
  }
}
