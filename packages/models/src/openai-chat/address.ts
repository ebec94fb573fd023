// The address of a Chat Completions server, and its authorization.

export const OPENAI_BASE_URL = 'https://api.openai.com/v1'

/** Accepts `https://host/v1` with or without a slash. An address without a path gets `/v1`, which all servers use. */
export function apiUrl(baseUrl: string, path: 'chat/completions' | 'models' | 'responses'): string {
  const [, base = '', query = ''] = /^([^?#]*)(\?[^#]*)?/.exec(baseUrl) ?? []
  const place = base.replace(/\/+$/, '').replace(/\/(chat\/completions|responses)$/, '')
  const versioned = /^[a-z]+:\/\/[^/]*$/i.test(place) ? `${place}/v1` : place
  return `${versioned}/${path}${query}`
}

/** Whether the host is OpenAI's or Azure's. */
export function isOpenAi(baseUrl: string): boolean {
  return /^(?:[^.]+\.)*(?:openai\.com|azure\.com)$/i.test(readHost(baseUrl).replace(/:\d+$/, ''))
}

/** Host with port, without user info. */
export function readHost(baseUrl: string): string {
  return /^[a-z]+:\/\/(?:[^/?#]*@)?([^/?#]*)/i.exec(baseUrl)?.[1] ?? baseUrl
}

/** Headers for every request to such a server. */
export function authorization(apiKey: string | undefined): Readonly<Record<string, string>> {
  return apiKey === undefined || apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` }
}
