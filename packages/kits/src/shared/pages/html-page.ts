// A parsed page as plain data, shared by the worker that reads pages and the thread that requests them.

export interface OpenGraph {
  readonly title?: string
  readonly description?: string
  readonly image?: string
  readonly type?: string
  readonly siteName?: string
  readonly url?: string
}

export interface HtmlPage {
  readonly title?: string
  readonly author?: string
  readonly language?: string
  /** ISO 8601. */
  readonly publishedAt?: string
  readonly modifiedAt?: string
  /** The page's canonical address. */
  readonly canonical?: string
  readonly openGraph: OpenGraph
  /** Visible text, with headings, lists, links and tables in Markdown style. */
  readonly text: string
  /** `article`: the part that Readability considered the main one. Without the optional peers, always `whole-page`. */
  readonly part: 'article' | 'whole-page'
  /** Text hidden by styles, up to a limit. Not part of `text`. */
  readonly hiddenText: string
  readonly hiddenCharacters: number
  /** Addresses of pictures in the text, at most 20. */
  readonly images: readonly string[]
  /** Whether the page has more elements or text than were read. */
  readonly isCut: boolean
}

export interface HtmlRequest {
  readonly html: string
  /** The page's address, which links are resolved against. */
  readonly url: string
  readonly part: HtmlPage['part']
}

export type HtmlReply = { readonly ok: true; readonly page: HtmlPage } | { readonly ok: false; readonly why: string }
