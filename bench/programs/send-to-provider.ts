// Loaded before a program (`node --import`): redirects requests for Anthropic to the address in ANTHROPIC_BASE_URL,
// also in libraries that do not read it.
const REAL = 'https://api.anthropic.com'
const send = globalThis.fetch

globalThis.fetch = async (input, init) => {
  const url = input instanceof Request ? input.url : String(input)
  const base = process.env['BATON_PROGRAM_PROVIDER'] ?? ''
  return await send(url.startsWith(REAL) ? `${base}${url.slice(REAL.length)}` : input, init)
}
