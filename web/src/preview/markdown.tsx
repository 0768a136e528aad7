// SPDX-License-Identifier: Apache-2.0
// Markdown as elements of this page: headings, lists, tables, code, quotes, stress, links. HTML in it stays text, and
// nothing is loaded from elsewhere: a picture is shown only when it lies beside the file.
import { Fragment, type ReactNode } from 'react'
import './preview.css'

export type Block =
  | { kind: 'heading'; level: number; text: string }
  | { kind: 'paragraph' | 'quote'; text: string }
  | { kind: 'code'; text: string }
  | { kind: 'list'; is_numbered: boolean; items: string[] }
  | { kind: 'table'; rows: string[][] }
  | { kind: 'rule' }

export function blocks_of(text: string): Block[] {
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  const blocks: Block[] = []
  let at = 0
  const take_while = (is_part: (line: string) => boolean): string[] => {
    const from = at
    while (at < lines.length && is_part(lines[at]!)) at++
    return lines.slice(from, at)
  }
  while (at < lines.length) {
    const line = lines[at]!
    const heading = /^(#{1,6})\s+(.*?)\s*#*$/.exec(line)
    if (line.trim() === '') at++
    else if (/^\s*(```|~~~)/.test(line)) {
      const fence = line.trim().slice(0, 3)
      at++
      blocks.push({ kind: 'code', text: take_while((next) => !next.trim().startsWith(fence)).join('\n') })
      at++
    } else if (heading) {
      blocks.push({ kind: 'heading', level: heading[1]!.length, text: heading[2]! })
      at++
    } else if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(line)) {
      blocks.push({ kind: 'rule' })
      at++
    } else if (line.startsWith('>')) blocks.push({ kind: 'quote', text: take_while((next) => next.startsWith('>')).map((next) => next.replace(/^>\s?/, '')).join('\n') })
    else if (is_item(line)) blocks.push({ kind: 'list', is_numbered: /^\s*\d/.test(line), items: items_of(take_while((next) => is_item(next) || /^\s+\S/.test(next))) })
    else if (line.includes('|') && /^\s*\|?\s*:?-{2,}/.test(lines[at + 1] ?? '')) {
      const [head, , ...rows] = take_while((next) => next.includes('|')).map(cells_of)
      blocks.push({ kind: 'table', rows: [head!, ...rows] })
    } else blocks.push({ kind: 'paragraph', text: take_while((next) => next.trim() !== '' && !/^(#{1,6}\s|>|\s*(```|~~~))/.test(next) && !is_item(next)).join('\n') })
  }
  return blocks
}

const is_item = (line: string): boolean => /^\s*([-*+]|\d{1,4}[.)])\s+/.test(line)

function items_of(lines: string[]): string[] {
  const items: string[] = []
  for (const line of lines) {
    if (is_item(line)) items.push(line.replace(/^\s*([-*+]|\d{1,4}[.)])\s+/, ''))
    else items[items.length - 1] += ` ${line.trim()}`
  }
  return items
}

const cells_of = (line: string): string[] => line.trim().replace(/^\||\|$/g, '').split('|').map((cell) => cell.trim())

/** `image`: the address of a picture that lies beside the file, or undefined. */
export function Markdown({ text, image }: { text: string; image?: (path: string) => string | undefined }) {
  return <div className="md">{blocks_of(text).map((block, index) => <BlockView key={index} block={block} image={image} />)}</div>
}

function BlockView({ block, image }: { block: Block; image?: (path: string) => string | undefined }) {
  const say = (text: string) => inline(text, image)
  switch (block.kind) {
    case 'heading': {
      // The page has its own first heading: a file's headings stand below it.
      const Tag = `h${Math.min(6, block.level + 2)}` as 'h3'
      return <Tag className={`md-h${block.level}`}>{say(block.text)}</Tag>
    }
    case 'code':
      return <pre className="code" tabIndex={0}>{block.text}</pre>
    case 'quote':
      return <blockquote>{say(block.text)}</blockquote>
    case 'rule':
      return <hr />
    case 'list': {
      const items = block.items.map((item, index) => <li key={index}>{say(item)}</li>)
      return block.is_numbered ? <ol>{items}</ol> : <ul>{items}</ul>
    }
    case 'table':
      return (
        <div className="scroll" tabIndex={0}>
          <table>
            <thead><tr>{block.rows[0]!.map((cell, index) => <th key={index} scope="col">{say(cell)}</th>)}</tr></thead>
            <tbody>{block.rows.slice(1).map((row, index) => <tr key={index}>{row.map((cell, column) => <td key={column}>{say(cell)}</td>)}</tr>)}</tbody>
          </table>
        </div>
      )
    default:
      return <p>{say(block.text)}</p>
  }
}

const inline_forms = /(`[^`]+`)|(!\[[^\]]*\]\([^)\s]+[^)]*\))|(\[[^\]]+\]\([^)\s]+[^)]*\))|(\*\*[^*]+\*\*|__[^_]+__)|(\*[^*\s][^*]*\*|\b_[^_]+_\b)/

function inline(text: string, image?: (path: string) => string | undefined): ReactNode {
  const parts: ReactNode[] = []
  let rest = text
  for (;;) {
    const found = inline_forms.exec(rest)
    if (!found) break
    parts.push(rest.slice(0, found.index), piece(found, image))
    rest = rest.slice(found.index + found[0].length)
  }
  parts.push(rest)
  return parts.map((part, index) => <Fragment key={index}>{part}</Fragment>)
}

function piece([whole, code, picture, link, strong]: RegExpExecArray, image?: (path: string) => string | undefined): ReactNode {
  if (code) return <code>{code.slice(1, -1)}</code>
  if (picture || link) {
    const [, word = '', target = ''] = /^!?\[([^\]]*)\]\(([^)\s]+)/.exec(whole) ?? []
    if (picture) {
      const url = /^[a-z]+:|^\/\//i.test(target) ? undefined : image?.(target)
      return url ? <img className="art-img" src={url} alt={word} /> : <span className="f">{word || target}</span>
    }
    return /^(https?:|mailto:)/i.test(target) ? <a href={target} target="_blank" rel="noopener noreferrer">{word}</a> : <span>{word}</span>
  }
  if (strong) return <b>{inline(strong.slice(2, -2), image)}</b>
  return <em>{inline(whole.slice(1, -1), image)}</em>
}
