// Says at the end of `npm test` what only the deep run tries.
import type { TestProject } from 'vitest/node'

export default function tellDepth(project: TestProject): () => void {
  return () => {
    if (project.config.env['BATON_TEST_DEPTH'] === 'deep') return
    console.warn(
      'LEFT OUT: most seeds and kill moments, the hand-offs between all providers, the terminal, the command in editors, MCP servers that misbehave, browsers, PostgreSQL, a proxy of ' +
        'others and local models. `npm run test:deep` runs them.',
    )
  }
}
