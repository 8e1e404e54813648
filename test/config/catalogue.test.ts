import { expect } from 'chai';
import { operatorPrefixes, readCatalogue } from '../../config/catalogue.js';
import { productCode, rupiah, text } from '../../src/api/contract/fields.js';
import { limits } from '../../config/limits.js';
import { getCustomerNumberRule } from '../../src/products/create-product.js';

describe('demo catalogue', () => {
  const products = readCatalogue();
  const sellers = ['seller', 'seller2', 'seller3'];

  it('has at least 150 products with unique codes', () => {
    expect(products.length).to.be.at.least(150);
    const codes = products.map((each) => each.code);
    expect(codes.filter((code, index) => codes.indexOf(code) !== index)).to.deep.equal([]);
  });

  it('its codes, names, categories and prices are valid in the API', () => {
    const price = rupiah({ min: 1, max: limits.moneyMax });
    for (const { code, name, category, subcategory, operator, offers } of products) {
      expect(productCode.validate(code).error, code).to.equal(undefined);
      expect(text(100).min(1).validate(name).error, code).to.equal(undefined);
      expect(text(50).min(1).validate(subcategory).error, code).to.equal(undefined);
      expect(text(50).min(1).validate(operator).error, code).to.equal(undefined);
      expect(category).to.be.oneOf(['prabayar', 'pascabayar']);
      for (const each of Object.values(offers)) {
        expect(price.validate(each, { convert: false }).error, code).to.equal(undefined);
      }
    }
  });

  it('has pulsa and data of every operator, PLN tokens, games and four bill kinds', () => {
    const kinds = new Set(
      products.map(({ category, subcategory, operator }) =>
        ['pulsa', 'data'].includes(subcategory)
          ? `${subcategory} ${operator ?? ''}`
          : `${category} ${subcategory}`,
      ),
    );
    expect(kinds).to.include.members([
      ...Object.keys(operatorPrefixes).flatMap((operator) => [`pulsa ${operator}`, `data ${operator}`]),
      'prabayar pln',
      'prabayar games',
      ...['pln', 'pdam', 'bpjs', 'internet'].map((each) => `pascabayar ${each}`),
    ]);
  });

  it('every phone product has prefixes, and no prefix belongs to two operators', () => {
    for (const product of products) {
      const rule = getCustomerNumberRule({ ...product, operator: product.operator ?? null });
      if (rule.kind === 'phone') {
        expect(rule.prefixes, product.code).to.not.be.empty;
      }
    }
    const prefixes = Object.values(operatorPrefixes).flat();
    expect(new Set(prefixes).size).to.equal(prefixes.length);
    expect(prefixes.every((prefix) => /^08\d\d$/.test(prefix))).to.equal(true);
  });

  it('three sellers compete on most products, and each is cheapest somewhere', () => {
    const names = new Set(products.flatMap(({ offers }) => Object.keys(offers)));
    expect([...names].sort()).to.deep.equal(sellers);
    const contested = products.filter(({ offers }) => new Set(Object.values(offers)).size > 1);
    expect(contested.length).to.be.greaterThan(products.length / 2);
    const cheapest = contested.map(
      ({ offers }) => Object.entries(offers).sort(([, one], [, other]) => one - other)[0]?.[0],
    );
    expect(cheapest).to.include.members(sellers);
    expect(products.filter(({ offers }) => Object.keys(offers).length === sellers.length)).to.not.be.empty;
  });
});
