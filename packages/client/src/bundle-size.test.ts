// Size of the code that a page loads for a session of version 2.
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { bundleForPage } from './bundle.test-kit.ts'

const CLIENT_BYTES_MAX = 22 * 1024
/** Code that is loaded separately when needed: children, running tools and models, and the outbox in the page's database. */
const BESIDE_BYTES_MAX = 8 * 1024

test('the client of a session is small, and needs nothing else', async () => {
  const { files, packages, imports } = await bundleForPage("export { openSession } from '@baton/client'", true)
  const { 'entry.js': entry = '', ...beside } = files
  const bytes = Buffer.byteLength(entry)
  const besides = Object.entries(beside).map(([name, code]) => [name, Buffer.byteLength(code)] as const)
  const sum = besides.reduce((all, [, more]) => all + more, 0)
  console.info(
    `client of version 2: ${bytes} bytes minified, ${gzipSync(entry).length} compressed; beside it ${besides.map((one) => one.join(' ')).join(', ')}`,
  )
  expect(bytes).toBeLessThan(CLIENT_BYTES_MAX)
  expect(sum).toBeLessThan(BESIDE_BYTES_MAX)
  expect(Object.keys(beside).sort()).toEqual(['child-views.js', 'client-calls.js', 'indexed-db-outbox.js'])
  expect(imports).toEqual([])
  expect(packages).toEqual(new Set(['client', 'core', 'protocol']))
  expect(entry).not.toMatch(/\bprocess\b|\brequire\(|\bBuffer\b|node:/)
})
