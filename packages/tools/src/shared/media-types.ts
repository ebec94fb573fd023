// Parses `content-type`, to the extent tools that call services need it.

/** `text/plain` for `text/plain; charset=utf-8`. */
export function bareType(type: string): string {
  return (type.split(';')[0] ?? '').trim().toLowerCase()
}

export function isJsonType(type: string): boolean {
  return /^(application|text)\/([\w.-]+\+)?json$/.test(bareType(type))
}

export function isTextType(type: string): boolean {
  return /^text\/|[/+](xml|yaml)$|^application\/(x-)?(yaml|javascript|sql|graphql|(x-)?ndjson|jsonl|jsonlines|json-seq|x-www-form-urlencoded)$/.test(
    bareType(type),
  )
}

/** The media type to send for a documented one, which may be a range. */
export function plainType(mediaType: string, otherwise: string): string {
  const type = bareType(mediaType)
  return type.includes('*') || type === '' ? otherwise : type
}
