// Cuts a text for people and says how much was cut. Never splits a surrogate pair.

export function cutText(text: string, chars: number): string {
  if (text.length <= chars) return text
  const last = text.charCodeAt(chars - 1)
  const end = last >= 0xd800 && last < 0xdc00 ? chars - 1 : chars
  return `${text.slice(0, end)}… (${text.length - end} more characters)`
}
