// The address of a server that speaks Chat Completions, and its authorization.

export const OPENAI_BASE_URL = 'https://api.openai.com/v1'

/** `https://host/v1`, with or without a slash; an address without a path gets the `/v1` that all servers have. */
export function apiUrl(baseUrl: string, path: 'chat/completions' | 'models' | 'responses'): string {
  const [, base = '', query = ''] = /^([^?#]*)(\?[^#]*)?/.exec(baseUrl) ?? []
  const place = base.replace(/\/+$/, '').replace(/\/(chat\/completions|responses)$/, '')
  const versioned = /^[a-z]+:\/\/[^/]*$/i.test(place) ? `${place}/v1` : place
  return `${versioned}/${path}${query}`
}

/** Whether OpenAI itself answers there, or Azure for it. */
export function isOpenAi(baseUrl: string): boolean {
  return /^(?:[^.]+\.)*(?:openai\.com|azure\.com)$/i.test(readHost(baseUrl).replace(/:\d+$/, ''))
}

/** With its port, without who asks. */
export function readHost(baseUrl: string): string {
  return /^[a-z]+:\/\/(?:[^/?#]*@)?([^/?#]*)/i.exec(baseUrl)?.[1] ?? baseUrl
}

/** Headers of every request to such a server. */
export function authorization(apiKey: string | undefined): Readonly<Record<string, string>> {
  return apiKey === undefined || apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` }
}
