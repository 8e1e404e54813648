import { expect } from 'chai';
import { readFileSync } from 'node:fs';

const files = ['Dockerfile', 'docker-compose.yml', '.github/workflows/ci.yml'];

describe('third-party container images', () => {
  it('have exact versions; tests use the images of production', () => {
    const named = files.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/(?:FROM |image: |27017:27017 )(\S+)/g)].map(
        ([, image = '']) => image,
      ),
    );
    const others = named.filter((image) => image !== 'topup-service');
    expect(others).to.have.length.above(5);
    for (const image of others) {
      expect(image).to.match(/^[a-z]+:\d+\.\d+\.\d+(-[a-z-]+)?(@sha256:[0-9a-f]{64})?$/);
    }
    expect([...new Set(others)].map((image) => image.split(':')[0])).to.have.members([
      'node',
      'mongo',
      'redis',
    ]);
  });
});
