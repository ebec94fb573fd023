// A console by the address that `baton console` prints, over HTTP as its page asks.
export function post(url: string, headers: Readonly<Record<string, string>>, body: object): Promise<Response> {
  const sent = { 'content-type': 'application/json', ...headers }
  return fetch(url, { method: 'POST', headers: sent, body: JSON.stringify(body) })
}

/** The front of a console by the address that it prints. */
export function openPage(printed: string) {
  const [, base, token] = /^(http:\/\/127\.0\.0\.1:\d+\/console\/)#token=([\w-]{43})$/.exec(printed) ?? []
  const headers = { authorization: `Bearer ${token}` }
  const read = async (path: string): Promise<unknown> => await (await fetch(`${base}api/${path}`, { headers })).json()
  const act = (path: string): Promise<Response> => post(`${base}api/${path}`, headers, {})
  return { base: `${base}`, read, act }
}
