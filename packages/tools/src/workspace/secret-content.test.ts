// Which texts are hidden because of their content. The secrets are invented and assembled here, so that no scanner
// flags this file.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { holdsSecret, OVERLAP_CHARS, SecretScan, WINDOW_CHARS } from './secret-content.ts'

const CHARS = 'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5hJ7kL9mN1pQ3sT5vW7xY9zA1bC3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z'
const base64 = `${CHARS.slice(0, 64)}\n`.repeat(20)
const pem = (kind: string): string => `-----BEGIN ${kind}-----\n${base64}-----END ${kind}-----\n`

const SECRETS: readonly (readonly [string, string])[] = [
  ['a private key', pem('PRIVATE KEY')],
  ['a key of OpenSSH', pem('OPENSSH PRIVATE KEY')],
  ['an RSA key', pem('RSA PRIVATE KEY')],
  ['an EC key', pem('EC PRIVATE KEY')],
  ['an encrypted key', pem('ENCRYPTED PRIVATE KEY')],
  ['a key of PuTTY', `${['PuTTY', 'User', 'Key', 'File', '3'].join('-')}: ssh-ed25519\nEncryption: none\n`],
  ['a key of age', `${['AGE', 'SECRET', 'KEY', '1'].join('-')}${CHARS.toUpperCase().slice(0, 58)}`],
  ['a service account', JSON.stringify({ type: 'service_account', private_key: pem('PRIVATE KEY') })],
  ['a token of GitHub', `oauth_token: ${['ghp', CHARS.slice(0, 36)].join('_')}`],
  ['an OAuth token of GitHub', `    oauth_token: ${['gho', CHARS.slice(0, 36)].join('_')}`],
  ['a token of GitLab', ['glpat', CHARS.slice(0, 20)].join('-')],
  ['a token of npm', `//registry.npmjs.org/:_authToken=${['npm', CHARS.slice(0, 36)].join('_')}`],
  ['a token of Slack', ['xoxb', '263594206564', '2343594206574', CHARS.slice(0, 24)].join('-')],
  ['a key of AWS', `aws_access_key_id = ${'AKIA'}${'IOSFODNN7ABCDEFG'}`],
  ['a secret of AWS', `AWS_SECRET_ACCESS_KEY = ${'wJalrXUtnFEMI/K7MDENG'}/bPxRfiCYzzzzzzzKEY`],
  ['a key of Anthropic', `${['sk', 'ant', 'api03', ''].join('-')}${'a'.repeat(93)}AA`],
  ['a key of OpenAI', ['sk', 'proj', CHARS].join('-')],
  ['a key of Stripe', ['sk', 'live', CHARS.slice(0, 24)].join('_')],
  ['a key of Google', `key=${['AIza', CHARS.slice(0, 35)].join('')}`],
  ['a key of OpenRouter', ['sk', 'or', 'v1', '0123456789abcdef'.repeat(4)].join('-')],
  ['an older key of OpenAI', ['sk', CHARS.slice(0, 48)].join('-')],
  ['a key of DeepSeek', ['sk', '0123456789abcdef'.repeat(2)].join('-')],
  ['a key of xAI', ['xai', CHARS.slice(0, 80)].join('-')],
  ['a key of Groq', ['gsk', CHARS.slice(0, 52)].join('_')],
  ['a key of Cerebras', ['csk', CHARS.slice(0, 48)].join('-')],
  ['a key of Fireworks', ['fw', CHARS.slice(0, 24)].join('_')],
  ['a key of Cursor', ['key', '0123456789abcdef'.repeat(4)].join('_')],
  ['a key of Mistral', `MISTRAL_API_KEY=${CHARS.slice(0, 32)}`],
  ['a key of Together', `TOGETHER_API_KEY: "${'0123456789abcdef'.repeat(4)}"`],
  ['a key of Azure', `export AZURE_OPENAI_API_KEY='${CHARS.slice(0, 84)}'`],
  ['a bearer token', `curl -H 'Authorization: Bearer ${CHARS.slice(0, 40)}'`],
  ['a password in an address', `DATABASE_URL=${['postgres://shop', 'Tr0ub4dor9x@db.internal.net/shop'].join(':')}`],
  ['a token of Hugging Face', ['hf', CHARS.slice(0, 34)].join('_')],
  ['logins of docker', JSON.stringify({ auths: { 'registry.example': { auth: 'dXNlcjpwYXNzd29yZA==' } } })],
]

test.each(SECRETS)('%s is found, also in the middle of a text and behind Windows line ends', async (_, secret) => {
  expect(await holdsSecret(secret)).toBe(true)
  const lines = `const a = 1\n${'some words\n'.repeat(500)}`
  expect(await holdsSecret(`${lines}${secret}\n${lines}`.replaceAll('\n', '\r\n'))).toBe(true)
})

test.each([
  ['words about keys', 'Set ANTHROPIC_API_KEY to your key (sk-ant-...). Never commit id_rsa.'],
  ['a public key', pem('PUBLIC KEY')],
  ['a certificate', pem('CERTIFICATE')],
  ['an example of an address', 'postgres://user:password@localhost:5432/db and https://user:pass@example.com'],
  [
    'words about headers',
    'Send `Authorization: Bearer <token>`; set MISTRAL_API_KEY=your-key and XAI_API_KEY to `xai-...`.',
  ],
  ['a hash and a UUID', `${'0123456789abcdef'.repeat(4)} 123e4567-e89b-12d3-a456-426614174000`],
  ['short forms', 'ghp_short AKIA123 sk_live_ AIza hf_abc sk-proj- glpat-x'],
  ['long base64', CHARS.repeat(100)],
])('%s is not a secret', async (_, text) => {
  expect(await holdsSecret(text)).toBe(false)
})

test('a key at the border of two windows is found, whatever the pieces', async () => {
  const [, secret] = SECRETS[0] ?? ['', '']
  for (const before of [WINDOW_CHARS - 100, WINDOW_CHARS - secret.length + 1, WINDOW_CHARS + OVERLAP_CHARS]) {
    const text = `${'line of words\n'.repeat(Math.ceil(before / 14)).slice(0, before)}${secret}\nmore\n`
    const scan = new SecretScan()
    let found = false
    for (let at = 0; at < text.length; at += 65_536) found = (await scan.take(text.slice(at, at + 65_536))) || found
    expect(found || (await scan.judge())).toBe(true)
  }
})

test('a key in the middle of a long text that comes at once is found', async () => {
  const filler = 'line of words\n'.repeat(90_000)
  const scan = new SecretScan()
  const found = await scan.take(`${filler}${['sk', 'live', CHARS.slice(0, 24)].join('_')}\n${filler}`)
  expect(found || (await scan.judge())).toBe(true)
})

test('long lines of capitals are judged in the time of other texts', async () => {
  // If it were quadratic, this would take minutes.
  expect(await holdsSecret(`>chr1\n${'ACGTTGCA'.repeat(60_000)}`)).toBe(false)
})

test('no file of this repository is hidden for what it holds', async () => {
  const root = resolve(import.meta.dirname, '../../../..')
  const files = execFileSync('git', ['ls-files', 'packages', 'scripts', 'docs', 'examples'], {
    encoding: 'utf8',
    cwd: root,
  })
  const hidden: string[] = []
  const sources = files
    .trim()
    .split('\n')
    .filter((file) => /\.(ts|md|json|txt|mjs)$/.test(file))
  for (const file of sources) if (await holdsSecret(readFileSync(resolve(root, file), 'utf8'))) hidden.push(file)
  console.log(`content: ${SECRETS.length} secrets found, ${sources.length} ordinary files, ${hidden.length} hidden`)
  expect(hidden).toEqual([])
})
