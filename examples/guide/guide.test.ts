// The programs of the pages run and print what the pages say; all code of all pages is a file that compiles.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const FOLDER = fileURLToPath(new URL('.', import.meta.url))

async function run(name: string, args: readonly string[] = []): Promise<string> {
  const command = ['--conditions=@baton/source', join(FOLDER, name), ...args]
  return (await promisify(execFile)(process.execPath, command, { timeout: 15_000, cwd: FOLDER })).stdout
}

const SAID: Readonly<Record<string, readonly string[]>> = {
  'approval-policy.ts': ['refund ok', 'mail.read ok', 'refund denied no refunds after reading mail.read'],
  'ask.ts': ['Which size?', 'It is on its way.'],
  'client-tools.ts': ['the door opens { seconds: 5 }', 'The door is open.'],
  'delegate.ts': ['717,710 people'],
  'embed.ts': ['You are in Oslo.'],
  'errors.ts': ['first model_invalid_request false', 'second Hello!'],
  'explore.ts': ['> code.grep', 'explore.ts'],
  'fallback.ts': ['asks first/model\nfailed: model_auth_failed\nasks second/model\nHello from the second one.'],
  'interrupt.ts': ['cancelled\nBye!'],
  'limits.ts': ["rounds 4 of 5 false\nrounds 5 of 5 true\nI found nothing. limit [ 'rounds' ] false\n"],
  'listen.ts': ['[Transcript] Ann: Shall we', '[Transcript] Bob: Gladly.\n[Event] offer_made', 'end Ask for a week'],
  'output.ts': ["valid [ 'it answers the question' ]"],
  'services.ts': ["{ title: 'acme/shop#7', readWith: 12 }"],
  'tools.ts': [
    'order.read error {"id":"A-71"}\norder.refund ok {"id":"A-17","cents":500}\norder.annotate ok {"id":"A-17","note":"arrived late"}\n',
    "{ status: 'packed', note: 'arrived late', refunded: 500 }",
  ],
  'verdict.ts': ['because of scan_text_for_malicious_content ok\nvalid'],
}

test.each(Object.entries(SAID))('%s runs and prints what it should', async (name, said) => {
  const printed = await run(name)
  for (const words of said) expect(printed).toContain(words)
})

test('a second process goes on with the conversation of the first one', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'baton-guide-'))
  const file = join(folder, 'chat.db')
  try {
    expect(await run('persistence.ts', [file])).toContain('messages so far: 0')
    expect(await run('persistence.ts', [file])).toContain('messages so far: 2')
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('each program of this folder is run by a test', async () => {
  const programs = (await readdir(FOLDER)).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  expect([...Object.keys(SAID), 'persistence.ts'].toSorted()).toEqual(programs.toSorted())
})

/** Its programs are plain JavaScript; packages/client/src/docs.process.test.ts runs them. */
const RUN_ELSEWHERE = 'protocol.md'

test('all code of all pages is a file of the repository', async () => {
  const pages = (await readdir(join(ROOT, 'docs'))).filter((name) => name.endsWith('.md') && name !== RUN_ELSEWHERE)
  for (const page of pages) {
    const text = await readFile(join(ROOT, 'docs', page), 'utf8')
    const alone = text.match(/(?<!<!-- example: [\w./-]+ -->\n)^```(ts|js|typescript|javascript)\b[^]*?^```/gm)
    expect([page, alone]).toEqual([page, null])
  }
})
