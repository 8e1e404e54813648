import { expect } from 'chai';
import { listDocPages } from '../../src/api/docs/doc-pages.js';
import { describeSchema, patternDescriptions } from '../../src/api/docs/schema-rows.js';
import { describedInterface } from '../../src/api/openapi/document.js';
import { readPages } from '../support/docs-pages.js';

const folders = ['tutorials', 'guides', 'reference', 'explanation'];
const wordsMax = 1_500;

describe('pages of docs', () => {
  const pages = folders.flatMap((folder) => Object.entries(readPages(folder)));

  it('are in the map of docs/README.md, once each, with their title', () => {
    const titles = pages.map(([file, text]) => `${file} ${/^# (.+)$/m.exec(text)?.[1] ?? ''}`);
    expect(listDocPages().map(({ name, title }) => `docs/${name}.md ${title}`)).to.have.members(titles);
  });

  it('have at most 1,500 words', () => {
    for (const [file, text] of pages) {
      expect(text.split(/\s+/).length, file).to.be.at.most(wordsMax);
    }
  });
});

describe('field descriptions in /docs', () => {
  it('describe every pattern in words', () => {
    const patterns = new Set(
      [...JSON.stringify(describedInterface()).matchAll(/"pattern":("(?:[^"\\\\]|\\\\.)*")/g)].map(
        ([, json = '']) => JSON.parse(json) as string,
      ),
    );
    expect(patterns.size).to.be.greaterThan(8);
    const freeText = [...patterns].filter((each) => each.startsWith('^[^\\u0000'));
    expect([...patterns].filter((each) => !freeText.includes(each))).to.have.members(
      Object.keys(patternDescriptions),
    );
  });

  it('state the accepted values, then the meaning', () => {
    expect(describeSchema({ type: 'string', pattern: '^\\d{5,34}$', description: 'Of the bank.' })).to.equal(
      '5 to 34 digits. Of the bank.',
    );
    expect(describeSchema({ type: ['integer', 'null'], minimum: 1, maximum: 9, default: 3 })).to.equal(
      'whole number, 1 to 9 or null, default 3',
    );
  });
});
